"""The simulated arm and the geometry of its tool, against the toolbox, spatialmath and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.robot import Infeasible, RobotFault
from geodrome_robots.tasks.simulation import (
    Arm,
    damped_pseudo_inverse,
    panda,
    quaternion_log,
    quaternion_rate,
    velocity_ellipsoid,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spatialmath.base import qdot

READY = np.array([0, -0.3, 0, -2.2, 0, 2, np.pi / 4])
COMPONENT = st.floats(-1, 1, allow_subnormal=False)
QUATERNIONS = (
    st.tuples(COMPONENT, COMPONENT, COMPONENT, COMPONENT)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)


@pytest.fixture(scope="module")
def model() -> rtb.DHRobot:
    return rtb.models.DH.Panda()


@pytest.fixture(scope="module")
def arm() -> Arm:
    return panda()


@pytest.fixture
def postures(model, generator) -> np.ndarray:
    return generator.uniform(*model.qlim, size=(20, 7))


def test_the_fast_kinematics_are_those_of_the_dh_model(arm, model, postures):
    for q in postures:
        assert_allclose(arm.pose(q), model.fkine(q).A, atol=1e-12)
        assert_allclose(arm.jacobian(q), model.jacob0(q), atol=1e-12)


def test_the_quaternion_jacobian_is_the_derivative_of_the_orientation(arm, postures):
    h = 1e-6
    for q in postures:
        orientation = arm.orientation(q)
        jacobian = 0.5 * quaternion_rate(orientation) @ arm.jacobian(q)[3:]

        for joint, step in enumerate(h * np.eye(7)):
            ahead, behind = arm.orientation(q + step), arm.orientation(q - step)
            ahead, behind = (np.copysign(1, p @ orientation) * p for p in (ahead, behind))
            assert_allclose(jacobian[:, joint], (ahead - behind) / (2 * h), atol=1e-8)


@given(QUATERNIONS, st.tuples(COMPONENT, COMPONENT, COMPONENT))
def test_the_quaternion_rate_is_that_of_an_angular_velocity_in_the_base_frame(q, velocity):
    rate = 0.5 * quaternion_rate(q) @ np.array(velocity)

    assert_allclose(rate, qdot(q, velocity), atol=1e-15)


@given(QUATERNIONS, QUATERNIONS)
def test_the_logarithm_leads_to_the_target_rotation_by_the_shortest_way(q, target):
    tangent = quaternion_log(q, target)

    arc = np.linalg.norm(tangent)
    reached = np.cos(arc) * q + np.sinc(arc / np.pi) * tangent
    assert arc <= np.pi / 2 + 1e-12
    assert abs(q @ tangent) < 1e-12
    assert_allclose(abs(reached @ target), 1, atol=1e-12)


@given(QUATERNIONS, QUATERNIONS.filter(lambda q: abs(q[0]) > 1e-3))
def test_the_logarithm_is_the_same_for_both_signs_of_the_target(q, target):
    # Half a turn away no hemisphere decides; that case belongs to whoever fixes the sign.
    if abs(q @ target) > 1e-9:
        assert_allclose(quaternion_log(q, target), quaternion_log(q, -target), atol=0)


def test_the_logarithm_keeps_its_digits_for_a_tiny_rotation():
    target = np.array([1.0, 3e-10, 0, 4e-10])

    assert_allclose(quaternion_log(np.array([1.0, 0, 0, 0]), target), [0, 3e-10, 0, 4e-10], rtol=1e-12)


def test_gravity_torques_are_the_derivative_of_the_potential_energy(arm, model, postures):
    def energy(q):
        frames = model.fkine_all(q)[1:]
        return sum(9.81 * link.m * (frame.A @ [*link.r, 1])[2] for link, frame in zip(model.links, frames, strict=True))

    h = 1e-5
    for q in postures[:5]:
        slopes = [(energy(q + step) - energy(q - step)) / (2 * h) for step in h * np.eye(7)]
        assert_allclose(arm.gravity_torques(q), slopes, atol=1e-6)


def test_gravity_torques_are_those_of_the_toolboxs_inverse_dynamics(arm, model, postures):
    for q in postures:
        assert_allclose(arm.gravity_torques(q), model.rne(q, np.zeros(7), np.zeros(7)), atol=1e-12)


def test_the_velocity_ellipsoid_has_the_volume_that_the_toolbox_calls_manipulability(arm, model, postures):
    for q in postures[:5]:
        volume = model.manipulability(q, method="yoshikawa", axes="trans")
        assert_allclose(np.sqrt(np.linalg.det(velocity_ellipsoid(arm.jacobian(q)))), volume, rtol=1e-9)


def test_the_damped_pseudo_inverse_is_the_pseudo_inverse_away_from_singularities(arm):
    jacobian = arm.jacobian(READY)

    assert_allclose(damped_pseudo_inverse(jacobian, damping=1e-6), np.linalg.pinv(jacobian), rtol=1e-6, atol=1e-9)


def test_the_damped_pseudo_inverse_is_bounded_at_a_singularity(arm):
    singular = arm.jacobian(np.array([0, 0, 0, -1e-9, 0, 0, 0]))

    inverse = damped_pseudo_inverse(singular, damping=0.01)

    assert np.linalg.norm(inverse, ord=2) <= 50 * (1 + 1e-9)


def test_a_velocity_beyond_the_limits_is_scaled_down_as_a_whole(arm):
    velocity = np.array([4.35, 1.0, 0, 0, 0, 0, -2.61])

    moved = arm.step(READY, velocity, dt=0.01)

    assert_allclose(moved - READY, 0.01 * velocity / 2, atol=1e-15)


def test_a_joint_at_its_limit_is_infeasible_and_named(arm):
    almost = READY.copy()
    almost[3] = -3.07

    with pytest.raises(Infeasible, match=r"joint 4 would go to -3\.080 rad, outside \[-3\.072, -0\.070\]"):
        arm.step(almost, np.array([0, 0, 0, -1.0, 0, 0, 0]), dt=0.01)


def test_a_velocity_that_is_not_finite_is_a_fault_of_the_simulation(arm):
    with pytest.raises(RobotFault, match="left the finite numbers"):
        arm.step(READY, np.full(7, np.nan), dt=0.01)
