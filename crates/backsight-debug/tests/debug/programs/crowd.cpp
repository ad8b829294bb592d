// Several threads that come to one line at the same time, again and again.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

std::atomic<int> arrived{0};
int seen[4];

// Waits until all four have come so far.
void gate(int round) {
  arrived++;
  while (arrived < 4 * (round + 1)) std::this_thread::yield();
}

void crowd(int mine) {
  for (int round = 0; round < 12; round++) {
    gate(round);
    seen[mine] += round; // HIT
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int mine = 0; mine < 4; mine++) threads.emplace_back(crowd, mine);
  for (auto &one : threads) one.join();
  printf("finished %d\n", seen[0]);
  return 0;
}
