// Package cart sums up what is in a cart. The bug: a discount is written into the catalogue that all carts share.
package cart

// Article is what can be bought.
type Article struct {
	Name  string
	Price int
	Tags  map[string]bool
}

// Cart holds articles of a catalogue.
type Cart struct {
	Articles []*Article
}

// Total is the price of all, reduced articles at half.
func (c *Cart) Total() int {
	sum := 0
	for _, article := range c.Articles {
		if article.Tags["reduced"] {
			article.Price /= 2 // WRITES
		}
		sum += article.Price
	}
	return sum
}
