// 4 x 4 matrices of floats for the shaders, column-major: m[row + 4 * column].
#ifndef LASH_APP_VIEWER_MATRIX_INTERNAL_H
#define LASH_APP_VIEWER_MATRIX_INTERNAL_H

typedef struct ViewMatrix {
    _Alignas(32) float m[16];
} ViewMatrix;

ViewMatrix view_matrix_identity(void);
ViewMatrix view_matrix_mul(const ViewMatrix* a, const ViewMatrix* b);
ViewMatrix view_matrix_perspective(double field, double aspect, double near, double far);
// half: of the height
ViewMatrix view_matrix_parallel(double half, double aspect, double near, double far);

#endif
