// The slider-crank in Siconos with its combined projection scheme, theta = 1/2, constraints to
// 1e-10: minimal coordinates as its public slider-crank example sets it up (a Lagrangian system of
// three angles, corners as scleronomous relations, planar friction by enumeration), and maximal
// coordinates (three Newton-Euler bodies, three pivot joints, corner points against planes,
// friction in space). Equations as in app/verify/paper_systems.c.
#include <SolverOptions.h>
#include <EqualityConditionNSL.hpp>
#include <GenericMechanical.hpp>
#include <MLCPProjectOnConstraints.hpp>
#include <NewtonEuler3DR.hpp>
#include <NewtonEulerDS.hpp>
#include <PivotJointR.hpp>
#include <SiconosKernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "app/bench/bench_peer_internal.h"
#include "app/verify/paper_systems.h"

namespace {

const LashPaperSliderCrank data = lash_paper_crank();
const double TOLERANCE = 1e-10; // of the constraints at position level [m]

struct Corner {
    double side, u, w; // +1 upper wall, -1 lower; place on the slider [m]
};

Corner corner(int i) {
    double side = i < 2 ? 1 : -1;
    return {side, i % 2 == 1 ? data.a : -data.a, side * data.b};
}

std::shared_ptr<SiconosVector> vector(std::initializer_list<double> values) {
    auto v = std::make_shared<SiconosVector>((unsigned)values.size());
    unsigned i = 0;
    for (double value : values) v->setValue(i++, value);
    return v;
}

// ---- Minimal coordinates: M(q) dv/dt + F(q, v) = G P --------------------------------------------

double coupling() { // M12 / cos(q1 - q2) [kg m^2]
    return data.l1 * data.l2 * (data.m2 / 2 + data.m3);
}
double crank_weight() { // [N m]
    return data.gravity * data.l1 * (data.m1 / 2 + data.m2 + data.m3);
}
double rod_weight() {
    return data.gravity * data.l2 * (data.m2 / 2 + data.m3);
}

void mass(unsigned, double* q, double* M, unsigned, double*) { // column-major
    std::fill(M, M + 9, 0.0);
    M[0] = data.J1 + data.l1 * data.l1 * (data.m1 / 4 + data.m2 + data.m3);
    M[4] = data.J2 + data.l2 * data.l2 * (data.m2 / 4 + data.m3);
    M[8] = data.J3;
    M[1] = M[3] = coupling() * std::cos(q[0] - q[1]);
}

void force(unsigned, double* q, double* v, double* F, unsigned, double*) {
    double s = coupling() * std::sin(q[0] - q[1]);
    F[0] = s * v[1] * v[1] + crank_weight() * std::cos(q[0]);
    F[1] = -s * v[0] * v[0] + rod_weight() * std::cos(q[1]);
    F[2] = 0;
}

void force_by_q(unsigned, double* q, double* v, double* J, unsigned, double*) {
    double c = coupling() * std::cos(q[0] - q[1]);
    std::fill(J, J + 9, 0.0);
    J[0] = c * v[1] * v[1] - crank_weight() * std::sin(q[0]);
    J[1] = -c * v[0] * v[0];
    J[3] = -c * v[1] * v[1];
    J[4] = c * v[0] * v[0] - rod_weight() * std::sin(q[1]);
}

void force_by_v(unsigned, double* q, double* v, double* J, unsigned, double*) {
    double s = coupling() * std::sin(q[0] - q[1]);
    std::fill(J, J + 9, 0.0);
    J[1] = -2 * s * v[0];
    J[3] = 2 * s * v[1];
}

double planar_gap(const Corner& k, double q1, double q2, double q3) {
    double y =
        data.l1 * std::sin(q1) + data.l2 * std::sin(q2) + k.u * std::sin(q3) + k.w * std::cos(q3);
    return data.b + data.c - k.side * y;
}

class PlanarCorner : public LagrangianScleronomousR {
public:
    explicit PlanarCorner(Corner k) : k_(k) {}
    void computeh(const BlockVector& q, BlockVector&, SiconosVector& y) override {
        y.setValue(0, planar_gap(k_, q.getValue(0), q.getValue(1), q.getValue(2)));
        y.setValue(1, 0);
    }
    void computeJachq(const BlockVector& q, BlockVector&) override {
        double crank = q.getValue(0), rod = q.getValue(1), slider = q.getValue(2);
        double s3 = std::sin(slider), c3 = std::cos(slider);
        _jachq->setValue(0, 0, -k_.side * data.l1 * std::cos(crank));
        _jachq->setValue(0, 1, -k_.side * data.l2 * std::cos(rod));
        _jachq->setValue(0, 2, -k_.side * (k_.u * c3 - k_.w * s3));
        _jachq->setValue(1, 0, -k_.side * data.l1 * std::sin(crank));
        _jachq->setValue(1, 1, -k_.side * data.l2 * std::sin(rod));
        _jachq->setValue(1, 2, -k_.side * (k_.u * s3 + k_.w * c3));
    }

private:
    Corner k_;
};

// ---- Maximal coordinates ------------------------------------------------------------------------

// Point of a body against the plane y = const: pc1 and the normal settle the Jacobian.
template <class Relation>
class PointOnPlane : public Relation {
public:
    PointOnPlane(Corner k, double wall) : k_(k), wall_(wall) {}
    double gap(const SiconosVector& q) const {
        double x[3];
        place(q, x);
        return wall_ - k_.side * x[1];
    }
    void computeh(double, const BlockVector& all, SiconosVector& y) override {
        const SiconosVector& q = *all.vector(0);
        double x[3];
        place(q, x);
        for (unsigned i = 0; i < 3; ++i) this->_Pc1->setValue(i, x[i]);
        *this->_Pc2 = *this->_Pc1;
        this->_Pc2->setValue(1, k_.side * wall_);
        this->_Nc->zero();
        this->_Nc->setValue(1, -k_.side);
        y.setValue(0, wall_ - k_.side * x[1]);
    }

private:
    void place(const SiconosVector& q, double* x) const { // r + R(quaternion) (u, w, 0)
        double a = q.getValue(3), b = q.getValue(4), c = q.getValue(5), d = q.getValue(6);
        x[0] = q.getValue(0) + (1 - 2 * (c * c + d * d)) * k_.u + 2 * (b * c - a * d) * k_.w;
        x[1] = q.getValue(1) + 2 * (b * c + a * d) * k_.u + (1 - 2 * (b * b + d * d)) * k_.w;
        x[2] = q.getValue(2) + 2 * (b * d - a * c) * k_.u + 2 * (c * d + a * b) * k_.w;
    }
    Corner k_;
    double wall_; // distance from the axis [m]
};

std::shared_ptr<NewtonEulerDS> body(double x, double m, double J, double vy, double spin) {
    auto inertia = std::make_shared<SimpleMatrix>(3, 3);
    inertia->zero();
    for (unsigned i = 0; i < 3; ++i) inertia->setValue(i, i, J);
    auto ds = std::make_shared<NewtonEulerDS>(vector({x, 0, 0, 1, 0, 0, 0}),
                                              vector({0, vy, 0, 0, 0, spin}), m, inertia);
    ds->setFExtPtr(vector({0, -m * data.gravity, 0}));
    return ds;
}

std::shared_ptr<Interaction> pivot(double x, std::shared_ptr<NewtonEulerDS> a,
                                   std::shared_ptr<NewtonEulerDS> b) {
    auto joint = std::make_shared<PivotJointR>(vector({x, 0, 0}), vector({0, 0, 1}), true, a, b);
    return std::make_shared<Interaction>(std::make_shared<EqualityConditionNSL>(5), joint);
}

// ---- A run --------------------------------------------------------------------------------------

struct Model {
    std::shared_ptr<NonSmoothDynamicalSystem> system;
    std::shared_ptr<OneStepNSProblem> impact;
    std::shared_ptr<LagrangianDS> angles;               // minimal
    std::vector<std::shared_ptr<NewtonEulerDS>> bodies; // maximal
    bool ideal;
};

Model minimal(double duration) {
    Model m = {};
    m.angles = std::make_shared<LagrangianDS>(vector({data.q[0], data.q[1], data.q[2]}),
                                              vector({data.v[0], data.v[1], data.v[2]}));
    m.angles->setComputeMassFunction(mass);
    m.angles->setComputeFGyrFunction(force);
    m.angles->setComputeJacobianFGyrqFunction(force_by_q);
    m.angles->setComputeJacobianFGyrqDotFunction(force_by_v);
    m.system = std::make_shared<NonSmoothDynamicalSystem>(0, duration);
    m.system->insertDynamicalSystem(m.angles);
    for (int i = 0; i < 4; ++i) {
        auto law = std::make_shared<NewtonImpactFrictionNSL>(data.e, 0, data.mu, 2);
        m.system->link(
            std::make_shared<Interaction>(law, std::make_shared<PlanarCorner>(corner(i))),
            m.angles);
    }
    m.impact = std::make_shared<FrictionContact>(2, SICONOS_FRICTION_2D_ENUM);
    m.impact->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-8;
    return m;
}

Model maximal(double duration, bool ideal) {
    Model m = {};
    m.ideal = ideal;
    double l1 = data.l1, l2 = data.l2, pin = data.v[0] * l1; // speed of the crank pin [m/s]
    m.bodies = {body(l1 / 2, data.m1, data.J1, pin / 2, data.v[0]),
                body(l1 + l2 / 2, data.m2, data.J2, pin + data.v[1] * l2 / 2, data.v[1]),
                body(l1 + l2, data.m3, data.J3, pin + data.v[1] * l2, data.v[2])};
    m.system = std::make_shared<NonSmoothDynamicalSystem>(0, duration);
    for (auto& b : m.bodies) m.system->insertDynamicalSystem(b);
    m.system->link(pivot(0, m.bodies[0], nullptr), m.bodies[0]);
    m.system->link(pivot(l1, m.bodies[0], m.bodies[1]), m.bodies[0], m.bodies[1]);
    m.system->link(pivot(l1 + l2, m.bodies[1], m.bodies[2]), m.bodies[1], m.bodies[2]);
    if (ideal) { // one row holds the slider's centre on the axis: nothing is redundant
        auto guide = std::make_shared<PointOnPlane<NewtonEuler1DR>>(Corner{1, 0, 0}, 0.0);
        m.system->link(
            std::make_shared<Interaction>(std::make_shared<EqualityConditionNSL>(1), guide),
            m.bodies[2]);
    }
    for (int i = 0; i < 4 && !ideal; ++i) {
        auto law = std::make_shared<NewtonImpactFrictionNSL>(data.e, 0, data.mu, 3);
        auto relation = std::make_shared<PointOnPlane<NewtonEuler3DR>>(corner(i), data.b + data.c);
        m.system->link(std::make_shared<Interaction>(law, relation), m.bodies[2]);
    }
    m.impact = std::make_shared<GenericMechanical>(SICONOS_FRICTION_3D_ONECONTACT_QUARTIC);
    m.impact->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-8;
    m.impact->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    return m;
}

double point_x(const SiconosVector& q, double u) { // of the point (u, 0, 0) of a body
    return q.getValue(0) + (1 - 2 * (std::pow(q.getValue(5), 2) + std::pow(q.getValue(6), 2))) * u;
}
double point_y(const SiconosVector& q, double u) {
    return q.getValue(1) + 2 * (q.getValue(4) * q.getValue(5) + q.getValue(3) * q.getValue(6)) * u;
}

// Largest distance of the two points of a pivot, in the plane of the motion [m].
double pin_error(const Model& m) {
    double worst = std::hypot(point_x(*m.bodies[0]->q(), -data.l1 / 2),
                              point_y(*m.bodies[0]->q(), -data.l1 / 2));
    const double ahead[] = {data.l1 / 2, data.l2 / 2}, behind[] = {-data.l2 / 2, 0};
    for (int i = 0; i < 2; ++i) {
        const SiconosVector &a = *m.bodies[(size_t)i]->q(), &b = *m.bodies[(size_t)i + 1]->q();
        worst = std::max(worst, std::hypot(point_x(a, ahead[i]) - point_x(b, behind[i]),
                                           point_y(a, ahead[i]) - point_y(b, behind[i])));
    }
    return worst;
}

double violation_of(const Model& m) {
    double worst = 0;
    for (int i = 0; i < 4 && m.angles; ++i) {
        const SiconosVector& q = *m.angles->q();
        worst =
            std::max(worst, -planar_gap(corner(i), q.getValue(0), q.getValue(1), q.getValue(2)));
    }
    if (m.angles) return worst;
    const SiconosVector& q = *m.bodies[2]->q();
    worst = pin_error(m);
    if (m.ideal) return std::max(worst, std::fabs(q.getValue(1)));
    for (int i = 0; i < 4; ++i)
        worst = std::max(worst, -PointOnPlane<NewtonEuler3DR>(corner(i), data.b + data.c).gap(q));
    return worst;
}

double crank_angle(const Model& m, double previous) { // unwrapped
    if (m.angles) return m.angles->q()->getValue(0);
    const SiconosVector& q = *m.bodies[0]->q();
    double angle = 2 * std::atan2(q.getValue(6), q.getValue(3));
    return angle + 2 * M_PI * std::round((previous - angle) / (2 * M_PI));
}

void simulate(const Model& m, double h, double duration, PeerRun* run) {
    auto position = std::make_shared<MLCPProjectOnConstraints>(SICONOS_MLCP_ENUM, 1.0);
    auto integrator = std::make_shared<MoreauJeanCombinedProjectionOSI>(0.5);
    auto steps = std::make_shared<TimeDiscretisation>(0, h);
    auto sim = std::make_shared<TimeSteppingCombinedProjection>(m.system, steps, integrator,
                                                                m.impact, position, 2);
    sim->setProjectionMaxIteration(500);
    sim->setConstraintTolUnilateral(TOLERANCE);
    sim->setConstraintTol(TOLERANCE);
    int n = (int)std::lround(duration / h);
    double index_sets = 0, start = peer_processor_time();
    for (run->steps = 0; run->steps < n && sim->hasNextEvent(); ++run->steps) {
        sim->advanceToEvent();
        run->violation = std::max(run->violation, violation_of(m));
        run->angle = crank_angle(m, run->angle);
        index_sets += sim->nbIndexSetsIteration();
        sim->processEvents();
    }
    run->us = (peer_processor_time() - start) / run->steps;
    run->index_sets = index_sets / run->steps;
}

} // namespace

extern "C" bool peer_siconos(PeerScene scene, double h, double duration, PeerRun* run) {
    try {
        Model m =
            scene == PEER_MINIMAL ? minimal(duration) : maximal(duration, scene == PEER_IDEAL);
        simulate(m, h, duration, run);
        std::snprintf(run->note, sizeof run->note, "TimeSteppingCombinedProjection, %s",
                      scene == PEER_MINIMAL ? "FrictionContact 2D by enumeration"
                                            : "GenericMechanical with quartic local solver");
        return run->steps == (int)std::lround(duration / h);
    } catch (const std::exception& e) {
        std::snprintf(run->note, sizeof run->note, "exception: %.150s", e.what());
    } catch (...) {
        std::snprintf(run->note, sizeof run->note, "exception at step %d", run->steps + 1);
    }
    return false;
}
