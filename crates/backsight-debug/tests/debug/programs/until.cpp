#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Order {
    int total = 0;
    std::vector<int> items{1, 2, 3};
    std::map<std::string, int> prices{{"apple", 3}};
};

static int audit(Order &order, int at) {
    std::string note = "at " + std::to_string(at);
    if (at == 3) {
        order.items[1] = 20; // GUILTY
    }
    return static_cast<int>(note.size());
}

int main() {
    Order order;
    int count = 0;
    for (int at = 0; at < 6; at++) { // START
        audit(order, at);
        count += 1;
        if (at == 4) {
            order.total = 7; // TOTAL
        }
    }
    std::printf("counted %d\n", count); // END
    return 0;
}
