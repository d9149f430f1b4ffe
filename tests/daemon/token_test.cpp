// SPDX-License-Identifier: Apache-2.0
// Keys of tokens, by a module of PKCS#11 made for the test (token/module.cpp).
#include "daemon/support.hpp"

namespace manymod::signd::test {
namespace {

class SigndToken : public testing::Test {
 protected:
  SigndToken() {
    folder_.write("pin", "1234\n");
    folder_.write("other-pin", "4321\n");
    setenv("MANYMOD_TEST_TOKEN_OBJECT", "site", 1);
  }
  ~SigndToken() override {
    for (const char* name : {"OBJECT", "KEY", "SENSITIVE"})
      unsetenv(("MANYMOD_TEST_TOKEN_" + std::string(name)).c_str());
  }
  void hold(const std::string& name) const {
    folder_.write("held.pem", private_pem(test_key(name)));
    setenv("MANYMOD_TEST_TOKEN_KEY", folder_.at("held.pem").c_str(), 1);
  }
  /// Why the key is not loaded; "" if it is the one expected.
  [[nodiscard]] std::string problem(const std::string& expected, const std::string& token = "test token",
                                    const std::string& object = "site",
                                    const std::string& pin = "pin") const {
    folder_.write("token.conf", std::string("[key.site]\nmodule = ") + MANYMOD_TEST_TOKEN + "\ntoken = " +
                                    token + "\nobject = " + object + "\npin_file = " + pin + "\n");
    try {
      const Generation generation(load_config(folder_.at("token.conf")));
      return generation.find(id_of(test_key(expected))) == nullptr ? "another key" : "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  Folder folder_;
};

TEST_F(SigndToken, GivesItsKeys) {
  for (const char* name : {"rsa", "p256"}) {
    hold(name);
    EXPECT_EQ(problem(name), "");
  }
}

TEST_F(SigndToken, ThatDoesNotGiveItsKeyIsRefusedWithTheReason) {
  hold("rsa");
  EXPECT_NE(problem("rsa", "no token").find("there is no token no token"), std::string::npos);
  EXPECT_NE(problem("rsa", "test token", "none").find("no private key none"), std::string::npos);
  EXPECT_NE(problem("rsa", "test token", "site", "other-pin").find("refuses the PIN"), std::string::npos);
  setenv("MANYMOD_TEST_TOKEN_SENSITIVE", "1", 1);
  EXPECT_NE(problem("rsa").find("does not give this key away"), std::string::npos);
}

// What a reload may do depends on the filter that there is, not on the file that it reads.
TEST_F(SigndToken, IsTakenByAReloadUnlessTheDaemonStartedWithASandbox) {
  hold("rsa2");
  for (const bool at_start : {true, false}) {
    const std::vector<std::string> settings = {"sandbox = no\n", "sandbox = yes\n"};
    configure(folder_, {"rsa"}, settings[at_start ? 1 : 0]);
    RunningDaemon daemon(folder_);
    configure(folder_, {"rsa"}, settings[at_start ? 0 : 1]);
    std::ofstream(folder_.at("signd.conf"), std::ios::app)
        << "[key.token]\nmodule = " << MANYMOD_TEST_TOKEN
        << "\ntoken = test token\nobject = site\npin_file = pin\nusers = *\n";
    daemon.reload();
    Client client(settings_of(folder_));
    const std::string counted = at_start ? "signd_failed_reloads_total 1\n" : "signd_reloads_total 1\n";
    EXPECT_TRUE(eventually([&] { return client.metrics().find(counted) != std::string::npos; })) << at_start;
  }
}

}  // namespace
}  // namespace manymod::signd::test
