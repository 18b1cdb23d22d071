"""A robot in MuJoCo: an arm of two links lifts a load, under a full stiffness matrix and a damping ratio.

    geodrome robot run robot_adapters/examples/mujoco_arm.py:Lift --trials 30

Needs ``pip install mujoco``, and no display: only the physics is used. The torques are

    tau = K (q_d - q) - D qdot,    D = 2 zeta sqrt(I0) K^(1/2),

limited, and four steps late, as on a bus; q_d goes from the start to the target in a second. A soft arm sags under the
load; a stiff one with little damping oscillates. Off-diagonal stiffness helps: the load pulls at both joints at once.
The cost adds the mean distance of the tip from its goal in the second after, in cm, and a fiftieth of the mean squared
torque, in (N m)².

MuJoCo writes quaternions in the order w, x, y, z, in MJCF, in qpos and in its sensors; ROS writes x, y, z, w.
"""

from __future__ import annotations

import math
from collections import deque
from functools import cached_property
from typing import Any

import numpy as np
from geodrome_robots import Infeasible, Measurement, Robot, Stop

MJCF = """
<mujoco model="lift">
  <option timestep="0.002" integrator="implicitfast"/>
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 -1 0" range="-3 3" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1.5"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" type="hinge" axis="0 -1 0" range="-2.8 2.8" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.025" mass="1"/>
        <site name="tip" pos="0.4 0 0"/>
        <geom name="load" type="sphere" pos="0.4 0 0" size="0.04" mass="0.8"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="upper" body2="lower"/></contact>
  <actuator>
    <motor joint="shoulder" ctrlrange="-40 40"/>
    <motor joint="elbow" ctrlrange="-20 20"/>
  </actuator>
  <sensor>
    <framepos name="position" objtype="site" objname="tip"/>
    <framequat name="orientation" objtype="site" objname="tip"/>
  </sensor>
</mujoco>
"""
START = (-math.pi / 2, 0.0)  # rad; it hangs
TARGET = (0.3, 0.4)  # rad, above the horizontal
GOAL = (0.4 * math.cos(0.3) + 0.4 * math.cos(0.7), 1 + 0.4 * math.sin(0.3) + 0.4 * math.sin(0.7))  # x and z, m
HORIZON = 2.0  # s
MOVE = 1.0  # s
DELAY = 4  # steps
INERTIA = 0.3  # kg m²
FASTEST = 15.0  # rad/s


def smooth(part: float) -> float:
    """From 0 to 1 with the least jerk."""
    part = min(part, 1.0)
    return part**3 * (10 - 15 * part + 6 * part**2)


class Lift(Robot):
    """Lifts a load of 0.8 kg; some 20 ms a trial."""

    name = "lift"
    space = {
        "type": "product",
        "factors": {
            "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10.0, 500.0], "unit": "N m/rad"},
            "damping_ratio": {"type": "real", "bounds": [0.05, 1.5], "scale": "log"},
        },
    }

    def describe(self) -> dict[str, Any]:
        """What defines the task."""
        return {
            "name": "lift",
            "version": "1",
            "model": "two links of 0.4 m in MuJoCo, a load of 0.8 kg at the tip",
            "mjcf": MJCF,
            "parameters": {
                "stiffness": {
                    "meaning": "of the shoulder and the elbow, coupled",
                    "unit": "N m/rad",
                    "frame": "joints",
                },
                "damping_ratio": {"meaning": "zeta in D = 2 zeta sqrt(I0) K^(1/2)", "unit": None},
            },
            "cost": {"meaning": "mean distance of the tip in cm + mean squared torque in (N m)² / 50", "unit": None},
            "delay_steps": DELAY,
            "horizon_s": HORIZON,
            "deterministic": True,
        }

    @cached_property
    def model(self) -> Any:
        """The compiled arm."""
        import mujoco

        return mujoco.MjModel.from_xml_string(MJCF)

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """Lifts once, from a fresh state: nothing of the trial before is left."""
        import mujoco

        del seed
        stiffness = np.array(point["stiffness"])
        values, axes = np.linalg.eigh(stiffness)
        damping = 2 * point["damping_ratio"] * math.sqrt(INERTIA) * (axes * np.sqrt(values)) @ axes.T
        data = mujoco.MjData(self.model)
        data.qpos[:] = START
        mujoco.mj_forward(self.model, data)
        late = deque([np.zeros(2)] * DELAY)
        distances, squares = [], []
        for _ in range(round(HORIZON / self.model.opt.timestep)):
            stop.check()
            wanted = START + smooth(data.time / MOVE) * np.subtract(TARGET, START)
            late.append(stiffness @ (wanted - data.qpos) - damping @ data.qvel)
            data.ctrl[:] = late.popleft()
            mujoco.mj_step(self.model, data)
            if not np.isfinite(data.qpos).all() or np.abs(data.qvel).max() > FASTEST:
                raise Infeasible(f"after {data.time:.3f} s a joint was faster than {FASTEST:g} rad/s")
            if data.time > MOVE:
                tip = data.sensor("position").data
                distances.append(math.hypot(tip[0] - GOAL[0], tip[2] - GOAL[1]))
            squares.append(float(np.sum(data.actuator_force**2)))
        w, x, y, z = data.sensor("orientation").data
        cost = 100 * np.mean(distances) + np.mean(squares) / 50
        metrics = {
            "final_distance_m": distances[-1],
            "rms_torque_Nm": math.sqrt(np.mean(squares)),
            "final_tilt_deg": math.degrees(2 * math.atan2(math.hypot(x, y, z), abs(w))),
        }
        return Measurement(float(cost), metrics=metrics)
