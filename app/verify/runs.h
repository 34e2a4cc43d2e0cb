// Runs that claims of [A12] and [AC24] share with the figures; each is made once and owned by the cache.
#ifndef LASH_APP_VERIFY_RUNS_H
#define LASH_APP_VERIFY_RUNS_H

#include "app/verify/track.h"

// ---- Orders (verify_examples.c) -----------------------------------------------------------------

void verify_ballard(double t, double* q, double* v); // exact motion of Ballard's ball
// Times of the first n impacts as the trapezoidal rule locates them; returns how many. Owns the model.
int verify_located(LashLagrangian* model, double h, double T, int n, double* times);

enum { ORDER_FAMILY = 29 }; // step lengths 1.01 2^-6 .. 2^-13, four per octave: less noise

typedef struct OrderErrors { // against the exact motion up to t = 4
    double q_sup, q_l1, q_l2, v_sup, v_l1, v_l2;
    double tau; // largest displacement by a projection
} OrderErrors;

typedef struct OrderFamily {
    double h[ORDER_FAMILY];
    OrderErrors error[ORDER_FAMILY];
} OrderFamily;

// Ballard's ball or oscillator b, by the explicit forecast with gamma.
const OrderFamily* order_family(Cache* cache, bool ball, LashScheme scheme, double gamma);

// ---- Chattering (verify_chattering.c) ------------------------------------------------------------

const Track* elastic_ball(Cache* cache, double h);          // e = 1, Algorithm 1, gamma = 0, 10 s
const Track* roller_track(Cache* cache, LashScheme scheme); // gamma = 0, h = 1e-3, 3 s
const Track* rocking_track(Cache* cache,
                           LashScheme scheme); // combined, or direct with gamma = 1; h = 1e-2, 2 s

// ---- Slider-crank (verify_slider_crank.c) --------------------------------------------------------

// Table 3: two turns and more (0.2 s), Newton's method, h = 1e-4, 1e-5, 1e-6 for k = 0, 1, 2; a point each 1e-4 s.
const Track* table_3_track(Cache* cache, LashScheme scheme, int k);
const Track* closure_track(Cache* cache, LashScheme scheme); // h = 1e-4, every step up to 0.025 s

// ---- Elastic bar (verify_bar.c) -----------------------------------------------------------------

typedef struct BarCase {
    LashScheme scheme;
    int elements;
    double h, theta, e, gap;
    double duration; // after the expected first touch [s]
} BarCase;

typedef struct BarRun {
    double begin, end;            // of the contact: start of its first step, end of its last [s]
    double peak, mean, deviation; // force: first step; inner 90 % of the contact [N]
    double violation;             // largest -gap [m]
    double tip;         // largest |v| of the tip between the first and the last step [m/s]
    double exit_speed;  // momentum / mass at the end [m/s]
    double energy;      // at the end [J]
    double energy_gain; // largest growth of the energy in a step [J]
    int impacts;        // steps in which the contact closes or the tip is thrown back
    bool failed;
    int points;
    double *t, *q, *v, *force; // (points) owned, of the tip, of every step
} BarRun;

// e = 0, theta = 1/2, from a gap of 5e-5 m to 6e-4 s after the first touch.
BarCase bar_case(LashScheme scheme, int elements, double h);
BarCase bar_long(LashScheme scheme, int elements, double h); // the same, to 1.5e-3 s after it
BarCase bar_peak(double h); // Moreau-Jean, 100 elements, from a gap of 5e-6 m
const BarRun* bar_run(Cache* cache, const BarCase* what);
double bar_exact_force(void); // while the bar pushes [N]
BarCase bar_figure_11(void);  // positions alone: a quarter of v0 h before the closing step

// ---- Pendulum in a ring (verify_ring.c) ----------------------------------------------------------

enum { RING_FRAMES = 4000 };
typedef struct RingRun {
    double first_time, first_speed; // start of the step of the first impact; U_N then
    double first_gap;               // at the end of that step
    double closed;                  // largest |g| while P > 0 [m]
    double lowest;                  // least gap while the hook is held [m]
    double lost;                    // time at which the hook is more than the thickness outside [s]
    int recovered;                  // steps in contact that raised a negative gap by more than 1e-9
    int frames;
    double t[RING_FRAMES], gap[RING_FRAMES]; // of every step [s], [mm]
    bool failed;
} RingRun;
// h = 5e-4, 2 s or until it is lost; moreau-jean with directions at the start.
const RingRun* ring_run(Cache* cache, LashScheme scheme);

// ---- Play between crank and rod (verify_play.c) --------------------------------------------------

enum { PLAY_FRAMES = 2000 };
typedef struct PlayRun {
    double before;    // largest |omega - 150| / 150 before the first contact
    double violation; // largest eccentricity - play [m]
    double lost;      // time at which the pin is outside by more than the play [s], NAN: never
    double turns;     // of the crank
    bool failed;
    int frames;
    double turn[PLAY_FRAMES], eccentricity[PLAY_FRAMES];   // of the crank, in units of the play
    double crank[PLAY_FRAMES], rod[PLAY_FRAMES];           // speeds [rad/s]
    double slider[PLAY_FRAMES], slider_speed[PLAY_FRAMES]; // [m, m/s]
} PlayRun;
// Two turns, or until the pin is lost.
const PlayRun* play_run(Cache* cache, LashScheme scheme, double play, double h);

// ---- Impacting stick (verify_fremond.c), sliding elastic block (verify_fremond_block.c) ----------

const Track* stick_track(Cache* cache, LashLaw law); // theta = 1/2, h = 1e-4, 0.2 s

enum { BLOCK_FRAMES = 500 };
typedef struct BlockRun {
    double largest_t; // work of friction of one contact in one step [J]
    int positive;     // steps with one above 1e-14 J
    double balance;   // |E - E_0 - work - contact work|, largest [J]
    double energy;    // scale: largest |E - E_0| [J]
    int slips;
    bool failed;
    int frames;
    double t[BLOCK_FRAMES];     // [ms]
    double works[BLOCK_FRAMES]; // largest of a contact and step [nJ]
    double kinetic[BLOCK_FRAMES], potential[BLOCK_FRAMES],
        external[BLOCK_FRAMES]; // since the start [mJ]
    double normal[BLOCK_FRAMES], friction[BLOCK_FRAMES], change[BLOCK_FRAMES], sum[BLOCK_FRAMES];
} BlockRun;
LashPaperElasticBlock elastic_block_data(double cell);             // of cells of this size [m]
const BlockRun* block_run(Cache* cache, LashLaw law, double cell); // 1 ms, h = 1e-4 ms

#endif
