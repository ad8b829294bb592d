#include <atomic>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Customer {
    std::string name;
};

struct Item {
    std::string name;
    int price;
};

// No `unique_ptr`: LLDB 22 itself ends when it reads one that g++ 12 compiled.
struct Order {
    Customer *customer;
    std::vector<Item *> items;
    Order *me;
};

struct Shop {
    bool open = true;

    int work(Order &order, int count, std::string label) {
        int x = 1;
        double ratio = 2.5;
        bool flag = true;
        Order *nothing = nullptr;
        std::string text = "héllo wörld 世界";
        std::string lengthy;
        for (int i = 0; i < 10000; i++) {
            lengthy += "abcdefghij";
        }
        int größe = 7;
        std::vector<int> empty;
        std::vector<std::vector<int>> nested = {{1, 2}, {3}};
        std::vector<int> small = {1, 2, 3};
        std::vector<int> big(1000000);
        for (int i = 0; i < 1000000; i++) {
            big[i] = i;
        }
        std::map<std::string, int> prices = {{"apple", 3}, {"pear", 5}};
        int number = 42;
        int zero = 0;
        {
            int x = 2;
            zero = x - 2;
            number = number + zero; // FIRST
            number++;
            order.customer->name = "Bob";
            order.items[1]->price = 21;
            small.push_back(4);
            prices["pear"] = 6;
            big[500000] = 7;
            number = number + zero; // SECOND
        }
        return größe + empty.size() + nested.size() + number + x + zero + ratio + flag + count + label.size() + lengthy.size() + (nothing == nullptr) + text.size();
    }
};

int recurse(int n) {
    if (n == 0) {
        return 0; // DEEP
    }
    return 1 + recurse(n - 1);
}

void wait_for(std::atomic<bool> *started, std::atomic<bool> *end) {
    std::string waiting = "for the end";
    started->store(true);
    while (!end->load()) {
        std::this_thread::yield();
    }
}

int loop() {
    int total = 0;
    int here = 0;
    for (int i = 0; i < 1000; i++) {
        total += i;
        here = total; // LOOP
    }
    return here;
}

int main() {
    std::cout << "hello from the program" << std::endl;
    std::atomic<bool> started(false), end(false);
    std::thread waiter(wait_for, &started, &end);
    while (!started.load()) {
        std::this_thread::yield();
    }
    Order order;
    order.customer = new Customer{"Ann"};
    order.items.push_back(new Item{"pen", 10});
    order.items.push_back(new Item{"ink", 20});
    order.me = &order;
    Shop shop;
    shop.work(order, 3, "label");
    recurse(5);
    loop();
    end.store(true);
    waiter.join();
    try {
        throw std::runtime_error("caught it"); // THROW
    } catch (const std::runtime_error &error) {
        std::cerr << error.what() << std::endl;
    }
    return 3;
}
