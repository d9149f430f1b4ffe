// SPDX-License-Identifier: Apache-2.0
#include "daemon/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "transport/tcp.hpp"

namespace manymod::signd::test {
namespace {

const std::string kIssuer = "critical,CA:TRUE";  // basic constraints

void add(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Authority::Authority(const Folder& folder, const std::string& name)
    : folder_(folder), key_(EVP_EC_gen("P-256")) {
  own_ = certificate({name, ""}, key_.get(), kIssuer);
  write(name, own_.get(), nullptr);
}

Authority::Authority(const Folder& folder, const std::string& name, const Authority& issuer)
    : folder_(folder), key_(EVP_EC_gen("P-256")) {
  own_ = issuer.certificate({name, ""}, key_.get(), kIssuer);
  write(name, own_.get(), nullptr);
}

Authority::Own<X509> Authority::certificate(const Subject& subject, EVP_PKEY* key,
                                            const std::string& basic) const {
  static long serial = 1;
  Own<X509> made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), subject.begins);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), subject.ends);
  X509_NAME* const name = X509_get_subject_name(made.get());
  if (!subject.name.empty()) {
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("Example"),
                               -1, -1, 0);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(subject.name.c_str()), -1, -1, 0);
  }
  X509* const issuer = own_ ? own_.get() : made.get();
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
  X509_set_pubkey(made.get(), key);
  add(made.get(), issuer, NID_basic_constraints, basic);
  if (basic == kIssuer) add(made.get(), issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  if (!subject.alternatives.empty()) add(made.get(), issuer, NID_subject_alt_name, subject.alternatives);
  X509_sign(made.get(), key_.get(), EVP_sha256());
  return made;
}

void Authority::write(const std::string& file, X509* certificate, EVP_PKEY* key) const {
  const Own<BIO> out(BIO_new_file(folder_.at(file + ".pem").c_str(), "w"));
  PEM_write_bio_X509(out.get(), certificate);
  if (key != nullptr) folder_.write(file + ".key", private_pem(key));
}

void Authority::issue(const std::string& file, const Subject& subject) {
  const Own<EVP_PKEY> key(EVP_EC_gen("P-256"));
  write(file, certificate(subject, key.get(), "CA:FALSE").get(), key.get());
}

void Authority::revoke(const std::string& file, const std::vector<std::string>& revoked) {
  const Own<X509_CRL> list(X509_CRL_new());
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(own_.get()));
  ASN1_TIME* const time = ASN1_TIME_new();
  X509_gmtime_adj(time, -60);
  X509_CRL_set1_lastUpdate(list.get(), time);
  for (const std::string& name : revoked) {
    const Own<BIO> in(BIO_new_file(folder_.at(name + ".pem").c_str(), "r"));
    const Own<X509> certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.get()));
    X509_REVOKED_set_revocationDate(entry, time);
    X509_CRL_add0_revoked(list.get(), entry);
  }
  X509_gmtime_adj(time, 3600);
  X509_CRL_set1_nextUpdate(list.get(), time);
  ASN1_TIME_free(time);
  X509_CRL_sign(list.get(), key_.get(), EVP_sha256());
  const Own<BIO> out(BIO_new_file(folder_.at(file + ".crl").c_str(), "w"));
  PEM_write_bio_X509_CRL(out.get(), list.get());
}

Settings remote_settings(const Folder& folder, const std::string& address, const std::string& file,
                         const std::string& ca) {
  Settings settings;
  settings.address = address;
  settings.ca = folder.at(ca + ".pem");
  settings.certificate = folder.at(file + ".pem");
  settings.key = folder.at(file + ".key");
  return settings;
}

unsigned short free_port() { return local_port(listen_tcp({"127.0.0.1", "0"}, 1).get()); }

}  // namespace manymod::signd::test
