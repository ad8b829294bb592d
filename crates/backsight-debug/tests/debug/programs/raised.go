package main

import (
	"errors"
	"fmt"
)

func load() error {
	return fmt.Errorf("cannot load: %w", errors.New("disk"))
}

func main() {
	panic(load())
}
