#include <string>
#include <vector>

struct Held {
    std::vector<std::string> texts;
};

int main() {
    std::string zero("a\0b", 3);
    std::string plain = "plain";
    Held held{{std::string("x\0y", 3)}};
    std::vector<std::vector<std::vector<int>>> many(1000, {{1}, {2}});
    int here = 1;  // BEFORE
    zero[2] = 'c';
    held.texts[0][2] = 'z';
    here = 2;  // AFTER
    return here - 2 + (int)plain.size() - 5;
}
