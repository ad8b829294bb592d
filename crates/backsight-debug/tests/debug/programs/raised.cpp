#include <stdexcept>

struct LoadError : std::runtime_error {
    int code;
    LoadError(const char *text, int code) : std::runtime_error(text), code(code) {}
};

int main() {
    throw LoadError("cannot load", 7);
}
