// What computer this is.
#include "app/cli/machine.h"

#include <stdio.h>
#include <string.h>

void app_machine_name(char* text, size_t size) {
    char line[256];
    snprintf(text, size, "this machine");
    FILE* file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char* colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s", colon + 2);
        break;
    }
    if (file != NULL) fclose(file);
}
