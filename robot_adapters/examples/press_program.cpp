// The other side of from_command in C++17, with nlohmann/json: a line in, a line out, until the input ends.
//
//     g++ -std=c++17 press_program.cpp -o press
//
// It does what press_program.py does; name it as from_command(["./press"], …).
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

using nlohmann::json;

json press(double stiffness, double damping) {
    const double ratio = damping / (2 * std::sqrt(stiffness));
    if (ratio < 0.05) return {{"outcome", "failed"}, {"reason", "it oscillates"}};
    const double overshoot = 100 * std::pow(std::max(0.0, 1 - ratio), 2);
    // A NaN is written as null, and the answer is refused: answer "failed" for a run without a cost.
    return {{"cost", overshoot + 2000 / stiffness + damping / 10}, {"metrics", {{"damping_ratio", ratio}}}};
}

int main() {
    std::cout << json{{"ready", true}} << std::endl;  // endl flushes: the other side waits for the line
    for (std::string line; std::getline(std::cin, line);) {
        const json point = json::parse(line).at("point");
        std::cout << press(point.at("stiffness"), point.at("damping")) << std::endl;
    }
}
