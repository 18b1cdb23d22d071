// Ask for one point and tell its cost from C++17, with libcurl and nlohmann/json.
//
//     g++ -std=c++17 ask_tell.cpp -lcurl -o ask_tell && ./ask_tell
//
// Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
// Where it wants a key, GEODROME_KEY is one.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

struct Answer {
    long status;
    json body;
};

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
    static_cast<std::string*>(text)->append(data, size * count);
    return size * count;
}

std::string new_key() {
    std::random_device device;
    std::string key = "Idempotency-Key: ";
    for (int i = 0; i < 4; ++i) key += std::to_string(device()) + "-";
    return key;
}

// One POST. Status 0 means that no answer came: nothing is known about what the service did.
Answer post_once(const std::string& url, const json& body, const std::string& key) {
    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, key.c_str());
    if (const char* access = std::getenv("GEODROME_KEY")) {
        list = curl_slist_append(list, (std::string("Authorization: Bearer ") + access).c_str());
    }
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);
    // A NaN is no JSON: dump() writes it as null, and the service refuses that as a cost.
    const std::string sent = body.dump();
    std::string received;
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, sent.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &received);
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 45L);
    if (curl_easy_perform(curl.get()) != CURLE_OK) return {0, nullptr};
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    return {status, json::parse(received, nullptr, /*allow_exceptions=*/false)};
}

// Repeats while no answer comes, while the point is not ready (202) and while the service is busy.
// The key stays the same, so that what is sent twice happens once.
json post(const std::string& url, const json& body) {
    const std::string key = new_key();
    for (int attempt = 0; attempt < 8; ++attempt) {
        const Answer answer = post_once(url, body, key);
        if (answer.status == 200 || answer.status == 201) return answer.body;
        const bool again = answer.status == 0 || answer.status == 202 || answer.status == 429 ||
                           (answer.status >= 502 && answer.status <= 504);
        if (!again) throw std::runtime_error(answer.body.dump());
        std::this_thread::sleep_for(std::chrono::milliseconds(250 << attempt));
    }
    throw std::runtime_error("no answer from " + url);
}

int main() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const char* given = std::getenv("GEODROME_URL");
    const std::string studies = std::string(given ? given : "http://127.0.0.1:8100") + "/v1/studies";

    // The order of quaternions is named once, here, and holds for every point of the study.
    post(studies, {{"name", "gripper-orientation"},
                   {"if_exists", "load"},
                   {"space", {{"type", "rotation"}, {"representation", "quaternion"}, {"order", "wxyz"}}}});

    const json asked = post(studies + "/gripper-orientation/ask", {{"worker", "gripper-1"}});
    const json trial = asked.at("trials").at(0);
    const auto q = trial.at("point").get<std::vector<double>>();  // w, x, y, z

    // Here the gripper turns and something is measured.
    const double cost = 2.0 * std::acos(std::min(1.0, std::abs(q[0])));  // rad

    const std::string number = std::to_string(trial.at("number").get<int>());
    const json told = post(studies + "/gripper-orientation/trials/" + number + "/tell", {{"cost", cost}});
    std::cout << "trial " << number << " is " << told.at("state").get<std::string>() << ", cost " << told.at("cost")
              << std::endl;
}
