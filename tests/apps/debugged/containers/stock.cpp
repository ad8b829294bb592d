// Stock in the containers of the standard library. The bug: what is reserved is taken out of the wrong place.
#include <algorithm>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

struct Article {
  std::string name;
  int count = 0;
  std::set<std::string> tags;
};

struct Stock {
  std::map<std::string, std::shared_ptr<Article>> articles;
  std::unordered_map<int, std::vector<int>> places;
  std::deque<std::tuple<int, std::string>> waiting;
  std::optional<std::string> last;
  std::variant<int, std::string> state = 0;
};

static void reserve(Stock &stock, const std::string &name, int count) {
  auto found = stock.articles.find(name);
  found->second->count -= count; // TAKES
  stock.places[7].at(40) = 0; // PLACE
  std::get<1>(stock.waiting.front()) = name; // WAITS
  stock.last = name; // LAST
  stock.state = std::string("reserved"); // STATE
}

int main() {
  Stock stock;
  for (const char *name : {"apple", "pear", "plum"}) {
    stock.articles[name] = std::make_shared<Article>(Article{name, 5, {"fruit"}});
  }
  stock.places[7] = std::vector<int>(60, 1);
  stock.waiting.emplace_back(1, "nobody");
  reserve(stock, "pear", 2);
  std::cout << stock.articles["pear"]->count << std::endl;
}
