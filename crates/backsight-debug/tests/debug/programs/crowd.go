// Several goroutines that come to one line at the same time, again and again.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

var arrived int64

// Waits until all four have come so far.
func gate(round int64) {
	atomic.AddInt64(&arrived, 1)
	for atomic.LoadInt64(&arrived) < 4*(round+1) {
		runtime.Gosched()
	}
}

func crowd(seen *int64, end *sync.WaitGroup) {
	for round := int64(0); round < 12; round++ {
		gate(round)
		*seen += round // HIT
	}
	end.Done()
}

func main() {
	var end sync.WaitGroup
	end.Add(4)
	var seen [4]int64
	for mine := 0; mine < 4; mine++ {
		go crowd(&seen[mine], &end)
	}
	end.Wait()
	fmt.Println("finished", seen)
}
