/* Writes the orders of a day to a journal that must survive a crash. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int journal;

static void append(long id, double amount) {
    char line[128];
    int length = snprintf(line, sizeof line, "%ld order amount=%.2f state=accepted\n", id, amount);
    if (write(journal, line, length) != length) exit(1);
#ifdef FIXED
    if (id % 500 == 499) fsync(journal);
#else
    fsync(journal);
#endif
}

int main(void) {
    journal = open("/var/tmp/fsync_journal.log", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (journal < 0) return 1;
    double total = 0;
    srand(5);
    for (long id = 0; id < ORDERS; id++) {
        double amount = rand() % 10000 / 100.0;
        total += amount;
        append(id, amount);
    }
    close(journal);
    unlink("/var/tmp/fsync_journal.log");
    printf("%.2f\n", total);
    return 0;
}
