// Ask for one point and tell its cost from C++17, with nothing but libcurl.
//
//     g++ -std=c++17 ask_tell.cpp -lcurl -o ask_tell && ./ask_tell
//
// Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
// Where it wants a key, GEODROME_KEY is one. A program that reads more of the answers takes a library for JSON.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>

struct Answer {
    long status;
    std::string body;
};

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
    static_cast<std::string*>(text)->append(data, size * count);
    return size * count;
}

// What stands under the first member of this name: a number, a text without its quotes, a list without its brackets.
std::string member(const std::string& text, const std::string& name) {
    std::smatch found;
    const std::regex wanted("\"" + name + "\"\\s*:\\s*(?:\"([^\"]*)\"|\\[([^\\]]*)\\]|([^,}\\s]+))");
    if (!std::regex_search(text, found, wanted)) throw std::runtime_error("no " + name + " in " + text);
    return found[1].str() + found[2].str() + found[3].str();
}

// Every digit that a double has, so that what is told is what was measured.
std::string digits(double number) {
    std::ostringstream text;
    text.precision(17);
    text << number;
    return text.str();
}

std::string new_key() {
    std::random_device device;
    std::string key = "Idempotency-Key: ";
    for (int i = 0; i < 4; ++i) key += std::to_string(device()) + "-";
    return key;
}

// One POST. Status 0 means that no answer came: nothing is known about what the service did.
Answer post_once(const std::string& url, const std::string& sent, const std::string& key) {
    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, key.c_str());
    if (const char* access = std::getenv("GEODROME_KEY")) {
        list = curl_slist_append(list, (std::string("Authorization: Bearer ") + access).c_str());
    }
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);
    std::string received;
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, sent.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &received);
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 45L);
    if (curl_easy_perform(curl.get()) != CURLE_OK) return {0, ""};
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    return {status, received};
}

// Repeats while no answer comes, while the point is not ready (202) and while the service is busy.
// The key stays the same, so that what is sent twice happens once.
std::string post(const std::string& url, const std::string& body) {
    const std::string key = new_key();
    for (int attempt = 0; attempt < 8; ++attempt) {
        const Answer answer = post_once(url, body, key);
        if (answer.status == 200 || answer.status == 201) return answer.body;
        const bool again = answer.status == 0 || answer.status == 202 || answer.status == 429 ||
                           (answer.status >= 502 && answer.status <= 504);
        if (!again) throw std::runtime_error(answer.body);
        std::this_thread::sleep_for(std::chrono::milliseconds(250 << attempt));
    }
    throw std::runtime_error("no answer from " + url);
}

int main() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const char* given = std::getenv("GEODROME_URL");
    const std::string studies = std::string(given ? given : "http://127.0.0.1:8100") + "/v1/studies";

    // The order of quaternions is named once, here, and holds for every point of the study.
    post(studies, R"({"name": "gripper-orientation", "if_exists": "load",
                      "space": {"type": "rotation", "representation": "quaternion", "order": "wxyz"}})");

    const std::string trial = post(studies + "/gripper-orientation/ask", R"({"worker": "gripper-1"})");
    const std::string number = member(trial, "number");
    std::vector<double> q;  // w, x, y, z
    std::istringstream point(member(trial, "point"));
    for (std::string part; std::getline(point, part, ',');) q.push_back(std::stod(part));

    // Here the gripper turns and something is measured. A cost that is not finite is no JSON, and is refused.
    const double cost = 2.0 * std::acos(std::min(1.0, std::abs(q.at(0))));  // rad

    const std::string told =
        post(studies + "/gripper-orientation/trials/" + number + "/tell", "{\"cost\": " + digits(cost) + "}");
    std::cout << "trial " << number << " is " << member(told, "state") << ", cost " << member(told, "cost") << std::endl;
}
