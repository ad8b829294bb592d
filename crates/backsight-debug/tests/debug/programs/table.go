package main

import (
	"fmt"
	"os"
)

type Customer struct {
	name string
}

type Item struct {
	name  string
	price int
}

type Order struct {
	customer *Customer
	items    []*Item
	me       *Order
}

type Shop struct {
	open bool
}

func (shop *Shop) work(order *Order, count int, label string, rest ...int) int {
	x := 1
	ratio := 2.5
	flag := true
	var nothing *Order
	text := "héllo wörld 世界"
	lengthy := ""
	for i := 0; i < 10000; i++ {
		lengthy += "abcdefghij"
	}
	größe := 7
	empty := []int{}
	nested := [][]int{{1, 2}, {3}}
	small := []int{1, 2, 3}
	big := make([]int, 1000000)
	for i := range big {
		big[i] = i
	}
	prices := map[string]int{"apple": 3, "pear": 5}
	var anything interface{} = order
	number := 42
	if flag {
		x := 2
		number = number + x - x // FIRST
		number++
		order.customer.name = "Bob"
		order.items[1].price = 21
		small = append(small, 4)
		prices["pear"] = 6
		big[500000] = 7
		number = number + x - x // SECOND
	}
	use(größe, empty, nested, x, ratio, flag, nothing, text, lengthy, small, big, prices, anything)
	return number
}

func use(values ...interface{}) {}

func recurse(n int) int {
	if n == 0 {
		return 0 // DEEP
	}
	return 1 + recurse(n-1)
}

func wait(started chan bool, end chan bool) {
	waiting := "for the end"
	started <- true
	<-end
	use(waiting)
}

func loop() int {
	total := 0
	for i := 0; i < 1000; i++ {
		total += i
		use(total) // LOOP
	}
	return total
}

func main() {
	fmt.Println("hello from the program")
	started, end := make(chan bool), make(chan bool)
	go wait(started, end)
	<-started
	order := &Order{customer: &Customer{"Ann"}, items: []*Item{{"pen", 10}, {"ink", 20}}}
	order.me = order
	shop := &Shop{true}
	shop.work(order, 3, "label", 7)
	recurse(5)
	loop()
	if len(os.Args) > 1 {
		panic("thrown") // THROW
	}
	os.Exit(3)
}
