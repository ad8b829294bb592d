#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Customer {
  std::string name;
};

struct Order {
  int total = 7;
  std::unique_ptr<Customer> customer = std::make_unique<Customer>(Customer{"Warsaw"});
};

template <typename... Values> void mark(const Values &...) {}

void empty() {
  mark(); // EMPTY
}

int add(int left, int right) {
  int total = left + right; // ADD
  return total; // RETURN
}

int work(Order &order) {
  int retry_count = 2;
  std::string api_key = "sk-live-0123456789abcdef";
  std::vector<int> big(5000);
  int total = 0;
  {
    std::string temp_buffer = "bytes";
    int value = 1;
    mark(temp_buffer, value); // BEFORE
  }
  {
    std::string value = "one";
    std::string result = "done";
    retry_count = 3;
    order.customer->name = "Krakow";
    api_key = "sk-live-fedcba9876543210";
    mark(result, value); // AFTER
  }
  total = add(1, 2); // CALL
  mark(total); // CALLED
  return retry_count;
}

void lone(int number) {
  mark(number); // LONE
}

void hit(int number) {
  mark(number); // HIT
}

void crowd() {
  for (int number = 0; number < 20; number++) {
    hit(number);
  }
}

int loop() {
  int total = 0;
  for (int i = 0; i < 30; i++) {
    total += i;
    mark(total); // LOOP
  }
  return total;
}

void raise_it(int number) {
  throw std::runtime_error("thrown " + std::to_string(number)); // THROW
}

int main(int count, char **arguments) {
  while (count > 1 && !std::strcmp(arguments[1], "linger")) {
    loop();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  empty();
  Order order;
  work(order);
  for (int number = 0; number < 2; number++) {
    std::thread(lone, number).join();
  }
  std::thread first(crowd), second(crowd);
  first.join();
  second.join();
  loop();
  for (int number = 0; number < 3; number++) {
    try {
      raise_it(number);
    } catch (const std::exception &) {
    }
  }
  mark(1); // LAST
  std::puts("finished");
}
