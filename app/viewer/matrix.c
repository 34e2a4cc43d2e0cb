// Matrices through cglm: the only file that sees it (its type names are ours, too).
#include "app/viewer/matrix_internal.h"

#include <cglm/cglm.h>
#include <string.h>

static ViewMatrix from(mat4 a) {
    ViewMatrix r;
    memcpy(r.m, a, sizeof r.m);
    return r;
}

ViewMatrix view_matrix_identity(void) {
    mat4 r = GLM_MAT4_IDENTITY_INIT;
    return from(r);
}

ViewMatrix view_matrix_mul(const ViewMatrix* a, const ViewMatrix* b) {
    mat4 x, y, r;
    memcpy(x, a->m, sizeof x);
    memcpy(y, b->m, sizeof y);
    glm_mat4_mul(x, y, r);
    return from(r);
}

ViewMatrix view_matrix_perspective(double field, double aspect, double near, double far) {
    mat4 r;
    glm_perspective((float)field, (float)aspect, (float)near, (float)far, r);
    return from(r);
}

ViewMatrix view_matrix_parallel(double half, double aspect, double near, double far) {
    mat4 r;
    float h = (float)half, w = (float)(half * aspect);
    glm_ortho(-w, w, -h, h, (float)near, (float)far, r);
    return from(r);
}
