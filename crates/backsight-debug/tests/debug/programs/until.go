package main

import "fmt"

type Order struct {
	total  int
	items  []int
	prices map[string]int
}

func audit(order *Order, at int) int {
	note := fmt.Sprintf("at %d", at)
	if at == 3 {
		order.items[1] = 20 // GUILTY
	}
	return len(note)
}

func main() {
	order := &Order{items: []int{1, 2, 3}, prices: map[string]int{"apple": 3}}
	count := 0
	for at := 0; at < 6; at++ { // START
		audit(order, at)
		count += 1
		if at == 4 {
			order.total = 7 // TOTAL
		}
	}
	fmt.Println("counted", count) // END
}
