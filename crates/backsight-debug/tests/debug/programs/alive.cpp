#include <cstdio>
#include <unistd.h>

int main() {
    int own = static_cast<int>(getpid());
    std::printf("pid %d\n", own);
    std::fflush(stdout);
    for (int round = 0; round < 600; round++) {
        usleep(100000); // HERE
    }
    return own == 0;
}
