package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type Customer struct {
	name string
}

type Order struct {
	total    int
	customer *Customer
}

func mark(values ...interface{}) {}

func empty() {
	mark() // EMPTY
}

func add(left int, right int) int {
	total := left + right // ADD
	return total          // RETURN
}

func work(order *Order) int {
	retry_count := 2
	api_key := "sk-live-0123456789abcdef"
	big := make([]int, 5000)
	total := 0
	{
		temp_buffer := "bytes"
		value := 1
		mark(temp_buffer, value, api_key) // BEFORE
	}
	{
		value := "one"
		result := "done"
		retry_count = 3
		order.customer.name = "Krakow"
		api_key = "sk-live-fedcba9876543210"
		mark(result, value, api_key, big) // AFTER
	}
	total = add(1, 2) // CALL
	mark(total)       // CALLED
	return retry_count
}

func lone(number int, done chan bool) {
	mark(number) // LONE
	done <- true
}

func hit(number int) {
	mark(number) // HIT
}

func crowd(start chan bool, end *sync.WaitGroup) {
	<-start
	for number := 0; number < 20; number++ {
		hit(number)
	}
	end.Done()
}

func loop() int {
	total := 0
	for i := 0; i < 30; i++ {
		total += i
		mark(total) // LOOP
	}
	return total
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "linger" {
		for {
			loop()
			time.Sleep(time.Millisecond)
		}
	}
	empty()
	work(&Order{7, &Customer{"Warsaw"}})
	done := make(chan bool)
	for number := 0; number < 2; number++ {
		go lone(number, done)
		<-done
	}
	start := make(chan bool)
	var end sync.WaitGroup
	end.Add(2)
	go crowd(start, &end)
	go crowd(start, &end)
	close(start)
	end.Wait()
	loop()
	mark("the last line") // LAST
	fmt.Println("finished")
}
