class Order
  attr_accessor :total, :items

  def initialize
    @total = 0
    @items = [1, 2, 3]
  end
end

def add(order, at)
  name = "name#{at}"
  order.items << at
  order.total += at # HERE
  name
end

order = Order.new
3.times { |at| add(order, at + 1) }
puts "total #{order.total}" # END
raise ArgumentError, 'bad' # RAISED
