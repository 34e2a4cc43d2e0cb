#include "app/study/study_command.h"
int app_study_report(int argc, char** argv) {
    (void)argc;
    (void)argv;
    return 1;
}
