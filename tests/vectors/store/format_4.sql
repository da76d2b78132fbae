PRAGMA application_id = 1195463749;
PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE artifacts (
  identity TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
INSERT INTO "artifacts" VALUES('4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d','operator-profile','{"anchors":[],"permissive":{"enabled":false,"exempt_providers":["ledger_read","ledger"]},"policy":{"engine":"permit_all"},"proof_budget":1048576,"trust":{"default_policy":"audit","min_lane":"verified","providers":[]},"validation":{"allow_permissive":false,"enable_deep_equals":false,"enable_lexicographic":false,"profile":"strict_core_v1","strict":true},"value_limits":{"maximum_payload_bytes":1048576,"maximum_value_bytes":1048576}}');
CREATE TABLE laws (
  law_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  scenario_id TEXT NOT NULL,
  identity TEXT NOT NULL,
  graph_identity TEXT NOT NULL,
  seal TEXT NOT NULL,
  law TEXT NOT NULL,
  UNIQUE (namespace_id, identity)
) STRICT;
INSERT INTO "laws" VALUES(1,2,'release','7563c450c32d2d395c687258aa879214758184342ec028c7b8969b2b378e0079','2cff80c15b01f2243cadf9ff2e2d233607e788750248795cb34c526773163a6c','bfd6c0da69e4f7c915fce63d94e7ae154123ff553af299886b83b9b02d35ab41','{"acquisition_bindings":[],"completion_requirement":{"Condition":"deploy"},"conditions":[{"condition_id":"built","evidence_use_policy":{"allowed_channels":["caller_submission"],"authorization":"embedding_authority","combination":{"combination":"AllQualifyingAgree"},"freshness":{"freshness":"NotRequired"},"independence":"distinct_acquisition","integrity":"canonical_content_only","replay":"full_semantic","required_assurance":["content_integrity","schema_compatibility","scope"],"retention":"retain_canonical_value","scope":"exact_condition"},"observation_domain":{"domain":"Boolean"},"predicate":{"expected":{"value":true,"value_type":"Boolean"},"predicate":"Equals"}},{"condition_id":"deployed","evidence_use_policy":{"allowed_channels":["caller_submission"],"authorization":"embedding_authority","combination":{"combination":"AllQualifyingAgree"},"freshness":{"freshness":"NotRequired"},"independence":"distinct_acquisition","integrity":"canonical_content_only","replay":"full_semantic","required_assurance":["content_integrity","schema_compatibility","scope"],"retention":"retain_canonical_value","scope":"exact_condition"},"observation_domain":{"domain":"Boolean"},"predicate":{"expected":{"value":true,"value_type":"Boolean"},"predicate":"Equals"}}],"namespace_id":2,"policies":[],"scenario_id":"release","schemas":[],"spec_version":"dag-v3","stages":[{"completion_requirement":{"Condition":"built"},"entry_packets":[],"prerequisite":{"kind":"root"},"stage_id":"build"},{"completion_requirement":{"Condition":"deployed"},"entry_packets":[],"prerequisite":{"kind":"requires","requirement":{"Condition":"build"}},"stage_id":"deploy"}],"value_limits":{"selection":"InheritOperator"}}');
CREATE TABLE records (
  record_row INTEGER PRIMARY KEY,
  run_row INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  record_id TEXT NOT NULL,
  family TEXT NOT NULL,
  operation TEXT NOT NULL,
  invocation_identity TEXT NOT NULL,
  material_names TEXT NOT NULL,
  seal TEXT NOT NULL,
  result TEXT NOT NULL,
  record TEXT NOT NULL,
  material TEXT NOT NULL,
  UNIQUE (run_row, revision),
  UNIQUE (run_row, operation, family)
) STRICT;
INSERT INTO "records" VALUES(1,1,1,'270955b210e7491918f18983af2d50e998ca75e2dc6f4dbaa81141f931892c49','create_run','45c36f59b5ff0d60e429d9f3069e5a0c','970c38094c902751383971aa227684828781c3caa0874f5a973117ff389b51f5','','1cd26aa397494816d5512f8b48ee5b5e4a73bdbd699607c9cddfc0eab53921cc','{"acceptance_time":{"accepted_audit_instant":1795350293767,"authority_revision":"1","source_material_identity":"32a1ed63c8c0b2e15840f6085b5d058838019a9046ff17daf562dd1cbad3948e","time_authority_id":"gate.system_clock"},"admission":{"kind":"local","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f5f329893999022154b09448b96134d22ca2178e333f7718dcec432330824ae5"}},"correlation":{"kind":"unset"},"creation_request_id":"45c36f59b5ff0d60e429d9f3069e5a0c","genesis":{"kind":"empty"},"head":{"record_id":"270955b210e7491918f18983af2d50e998ca75e2dc6f4dbaa81141f931892c49","revision":1},"invocation_identity":"970c38094c902751383971aa227684828781c3caa0874f5a973117ff389b51f5","run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"},"scenario_law_identity":"7563c450c32d2d395c687258aa879214758184342ec028c7b8969b2b378e0079"}','{"acceptance_time":{"accepted_audit_instant":1795350293767,"authority_revision":"1","source_material_identity":"32a1ed63c8c0b2e15840f6085b5d058838019a9046ff17daf562dd1cbad3948e","time_authority_id":"gate.system_clock"},"admission":{"kind":"local","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f5f329893999022154b09448b96134d22ca2178e333f7718dcec432330824ae5"}},"attribution":{"auth_method":"local","policy_class":null,"principal":"stdio","roles_matched":[],"tenants":[1]},"body":{"contracts":[],"correlation":{"kind":"unset"},"genesis":{"kind":"empty"},"graph_identity":"2cff80c15b01f2243cadf9ff2e2d233607e788750248795cb34c526773163a6c","run_allocation":{"authority_id":"gate.random"},"scenario_id":"release","scenario_law_identity":"7563c450c32d2d395c687258aa879214758184342ec028c7b8969b2b378e0079","schemas":[],"time_source":{"authority_revision":"1","reading_unix_millis":1795350293767,"time_authority_id":"gate.system_clock"}},"invocation_identity":"970c38094c902751383971aa227684828781c3caa0874f5a973117ff389b51f5","operation":{"family":"create_run","identity":"45c36f59b5ff0d60e429d9f3069e5a0c"},"operator_profile":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","previous_record_id":null,"procedure":"gate-kernel-2","record_kind":"run_created","revision":1,"run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"}}','');
INSERT INTO "records" VALUES(2,1,2,'40ccdc6d0b81c2da35e6936e8bdab81f35dd77fd6ac0c025e31702a3237c96ef','open_stage','d9662356144b7dad04119cdb7b1c7bc7','bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330','','fcbb382cda5038307d25b90106e36d5be12de3d2f737803f904ae0ffb55c7f24','{"accepted_head":{"record_id":"40ccdc6d0b81c2da35e6936e8bdab81f35dd77fd6ac0c025e31702a3237c96ef","revision":2},"operation_id":{"family":"open_stage","identity":"d9662356144b7dad04119cdb7b1c7bc7"},"invocation_identity":"bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330","acceptance_time":{"accepted_audit_instant":1795350293931,"authority_revision":"1","source_material_identity":"cd8299d073cd8cd079ef7fd431934c1454b78ccc081b0ec5b6e8687901eb933c","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"a46a31c8983d4dc13b43a1ac25da0f54009091df91feeb409d56e2c4eae28f72"}},"stage_id":"build","stage_open_record_id":"40ccdc6d0b81c2da35e6936e8bdab81f35dd77fd6ac0c025e31702a3237c96ef","entry_intents":[],"ready_frontier":[]}','{"acceptance_time":{"accepted_audit_instant":1795350293931,"authority_revision":"1","source_material_identity":"cd8299d073cd8cd079ef7fd431934c1454b78ccc081b0ec5b6e8687901eb933c","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"a46a31c8983d4dc13b43a1ac25da0f54009091df91feeb409d56e2c4eae28f72"}},"attribution":{"auth_method":"local","policy_class":null,"principal":"stdio","roles_matched":[],"tenants":[1]},"body":{"disclosures":[],"intents":[],"prerequisite_trace":[],"stage_id":"build","time_source":{"authority_revision":"1","reading_unix_millis":1795350293931,"time_authority_id":"gate.system_clock"}},"invocation_identity":"bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330","operation":{"family":"open_stage","identity":"d9662356144b7dad04119cdb7b1c7bc7"},"operator_profile":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","previous_record_id":"270955b210e7491918f18983af2d50e998ca75e2dc6f4dbaa81141f931892c49","procedure":"gate-kernel-2","record_kind":"stage_opened","revision":2,"run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"}}','');
INSERT INTO "records" VALUES(3,1,3,'2ae5e5a29ad44181bb71ac9c22b24c10a97011dc79bcac534411abbcd15e99af','evaluate_stage','8470b524669015c8ef241f519b08f8e4','bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330','evidence-value 9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66','6e906ef21aec28e226382430889db330450bdb0aae2c19573d060bd1f305276e','{"accepted_head":{"record_id":"2ae5e5a29ad44181bb71ac9c22b24c10a97011dc79bcac534411abbcd15e99af","revision":3},"operation_id":{"family":"evaluate_stage","identity":"8470b524669015c8ef241f519b08f8e4"},"invocation_identity":"bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330","acceptance_time":{"accepted_audit_instant":1795350293931,"authority_revision":"1","source_material_identity":"cd8299d073cd8cd079ef7fd431934c1454b78ccc081b0ec5b6e8687901eb933c","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"a46a31c8983d4dc13b43a1ac25da0f54009091df91feeb409d56e2c4eae28f72"}},"stage_id":"build","attempt":{"attempt_number":1,"record_id":"2ae5e5a29ad44181bb71ac9c22b24c10a97011dc79bcac534411abbcd15e99af","stage_id":"build","outcome":"true","completed":true,"trace":[{"path":"$","condition_id":"built","value":"true"}],"evidence":[{"item_id":"caller:0","condition_id":"built","channel":"caller_submission","value_identity":"9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66","qualified":true}]},"ready_frontier":["deploy"],"run_status":"active"}','{"acceptance_time":{"accepted_audit_instant":1795350293931,"authority_revision":"1","source_material_identity":"cd8299d073cd8cd079ef7fd431934c1454b78ccc081b0ec5b6e8687901eb933c","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"a46a31c8983d4dc13b43a1ac25da0f54009091df91feeb409d56e2c4eae28f72"}},"attribution":{"auth_method":"local","policy_class":null,"principal":"stdio","roles_matched":[],"tenants":[1]},"body":{"attempt_number":1,"completed":true,"evidence":[{"channel":"caller_submission","condition_id":"built","content_hash":{"algorithm":"sha256","value":"b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"},"item_id":"caller:0","lane":"verified","qualified":true,"retention":"RetainCanonicalValue","value_identity":"9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66","value_type":"Boolean"}],"narrowed_bindings":[],"outcome":"true","run_status":"active","scenario_trace":[{"path":"$","stage_id":"deploy","value":"false"}],"stage_id":"build","time_source":{"authority_revision":"1","reading_unix_millis":1795350293931,"time_authority_id":"gate.system_clock"},"trace":[{"condition_id":"built","path":"$","value":"true"}]},"invocation_identity":"bbf47888924c9abf5b124eca11d1e1864e004f69f4eaa4526df61f57e9994330","operation":{"family":"evaluate_stage","identity":"8470b524669015c8ef241f519b08f8e4"},"operator_profile":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","previous_record_id":"40ccdc6d0b81c2da35e6936e8bdab81f35dd77fd6ac0c025e31702a3237c96ef","procedure":"gate-kernel-2","record_kind":"stage_evaluated","revision":3,"run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"}}','{"value":true,"value_type":"Boolean"}');
INSERT INTO "records" VALUES(4,1,4,'92420538640f0555050980db7c7e9a990ef7029dba6869cc5ff72a1f4c2df54b','open_stage','9e8daa21d67b24f9816c0a881d9712b3','e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969','','e589226e8579db43418078094c398c5a5b1ef3a4ef69a53ab3a2181c0b432705','{"accepted_head":{"record_id":"92420538640f0555050980db7c7e9a990ef7029dba6869cc5ff72a1f4c2df54b","revision":4},"operation_id":{"family":"open_stage","identity":"9e8daa21d67b24f9816c0a881d9712b3"},"invocation_identity":"e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969","acceptance_time":{"accepted_audit_instant":1795350293940,"authority_revision":"1","source_material_identity":"68aca30763ed9a2a5734930201abea69739595f187c4d88ecfdaf28a1373d230","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f8553ecae67c468776840af3f320712a8f12c5cee368c71f751049828dc23404"}},"stage_id":"deploy","stage_open_record_id":"92420538640f0555050980db7c7e9a990ef7029dba6869cc5ff72a1f4c2df54b","entry_intents":[],"ready_frontier":[]}','{"acceptance_time":{"accepted_audit_instant":1795350293940,"authority_revision":"1","source_material_identity":"68aca30763ed9a2a5734930201abea69739595f187c4d88ecfdaf28a1373d230","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f8553ecae67c468776840af3f320712a8f12c5cee368c71f751049828dc23404"}},"attribution":{"auth_method":"local","policy_class":null,"principal":"stdio","roles_matched":[],"tenants":[1]},"body":{"disclosures":[],"intents":[],"prerequisite_trace":[{"path":"$","stage_id":"build","value":"true"}],"stage_id":"deploy","time_source":{"authority_revision":"1","reading_unix_millis":1795350293940,"time_authority_id":"gate.system_clock"}},"invocation_identity":"e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969","operation":{"family":"open_stage","identity":"9e8daa21d67b24f9816c0a881d9712b3"},"operator_profile":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","previous_record_id":"2ae5e5a29ad44181bb71ac9c22b24c10a97011dc79bcac534411abbcd15e99af","procedure":"gate-kernel-2","record_kind":"stage_opened","revision":4,"run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"}}','');
INSERT INTO "records" VALUES(5,1,5,'89d8b2479bce533e4e23fb2e98ca6a947dd811a48e1d7737c82e82d857909e48','evaluate_stage','e573e87aaec11452561b6ed73d577121','e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969','evidence-value 9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66','6632a9a5500103555cbb0624996eab143d063574dcdece82006048898190130b','{"accepted_head":{"record_id":"89d8b2479bce533e4e23fb2e98ca6a947dd811a48e1d7737c82e82d857909e48","revision":5},"operation_id":{"family":"evaluate_stage","identity":"e573e87aaec11452561b6ed73d577121"},"invocation_identity":"e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969","acceptance_time":{"accepted_audit_instant":1795350293940,"authority_revision":"1","source_material_identity":"68aca30763ed9a2a5734930201abea69739595f187c4d88ecfdaf28a1373d230","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f8553ecae67c468776840af3f320712a8f12c5cee368c71f751049828dc23404"}},"stage_id":"deploy","attempt":{"attempt_number":2,"record_id":"89d8b2479bce533e4e23fb2e98ca6a947dd811a48e1d7737c82e82d857909e48","stage_id":"deploy","outcome":"true","completed":true,"trace":[{"path":"$","condition_id":"deployed","value":"true"}],"evidence":[{"item_id":"caller:0","condition_id":"deployed","channel":"caller_submission","value_identity":"9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66","qualified":true}]},"ready_frontier":[],"run_status":"complete"}','{"acceptance_time":{"accepted_audit_instant":1795350293940,"authority_revision":"1","source_material_identity":"68aca30763ed9a2a5734930201abea69739595f187c4d88ecfdaf28a1373d230","time_authority_id":"gate.system_clock"},"admission":{"kind":"derived","profile_id":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","request_provenance_digest":{"algorithm":"sha256","value":"f8553ecae67c468776840af3f320712a8f12c5cee368c71f751049828dc23404"}},"attribution":{"auth_method":"local","policy_class":null,"principal":"stdio","roles_matched":[],"tenants":[1]},"body":{"attempt_number":2,"completed":true,"evidence":[{"channel":"caller_submission","condition_id":"deployed","content_hash":{"algorithm":"sha256","value":"b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"},"item_id":"caller:0","lane":"verified","qualified":true,"retention":"RetainCanonicalValue","value_identity":"9d18a84073ff2c4adba7f1fd181b22478f970139086702f5a8e402339885cc66","value_type":"Boolean"}],"narrowed_bindings":[],"outcome":"true","run_status":"complete","scenario_trace":[{"path":"$","stage_id":"deploy","value":"true"}],"stage_id":"deploy","time_source":{"authority_revision":"1","reading_unix_millis":1795350293940,"time_authority_id":"gate.system_clock"},"trace":[{"condition_id":"deployed","path":"$","value":"true"}]},"invocation_identity":"e0b793f3712159279b441de5e45d5d186a400a798df933acb99699166339f969","operation":{"family":"evaluate_stage","identity":"e573e87aaec11452561b6ed73d577121"},"operator_profile":"4055bfe459edc3e8c2af5cf3315f5f0a5b463a3781bc8ec3af2bc9751134d89d","previous_record_id":"92420538640f0555050980db7c7e9a990ef7029dba6869cc5ff72a1f4c2df54b","procedure":"gate-kernel-2","record_kind":"stage_evaluated","revision":5,"run_key":{"namespace_id":2,"run_id":"63432d8bae7116f3548c51da6389af2e"}}','{"value":true,"value_type":"Boolean"}');
CREATE TABLE run_index (
  run_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  created INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  scenario_id TEXT NOT NULL,
  law_identity TEXT NOT NULL,
  status TEXT NOT NULL,
  correlation TEXT NOT NULL,
  parameters TEXT NOT NULL,
  seal TEXT NOT NULL
) STRICT;
INSERT INTO "run_index" VALUES(1,2,1795350293767,'63432d8bae7116f3548c51da6389af2e','release','7563c450c32d2d395c687258aa879214758184342ec028c7b8969b2b378e0079','complete','','[]','e7aa0e9520c1ca1f1c8ebfebeb188b27180ff259efd8cd7861ec899eef9e8e05');
CREATE TABLE run_parameters (
  namespace_id INTEGER NOT NULL,
  parameter TEXT NOT NULL,
  created INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  run_row INTEGER NOT NULL,
  UNIQUE (namespace_id, parameter, created, run_id)
) STRICT;
CREATE TABLE runs (
  run_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  scenario_id TEXT NOT NULL,
  law_identity TEXT NOT NULL,
  creation TEXT NOT NULL,
  revision INTEGER NOT NULL,
  head TEXT NOT NULL,
  UNIQUE (namespace_id, run_id),
  UNIQUE (namespace_id, creation)
) STRICT;
INSERT INTO "runs" VALUES(1,2,'63432d8bae7116f3548c51da6389af2e','release','7563c450c32d2d395c687258aa879214758184342ec028c7b8969b2b378e0079','45c36f59b5ff0d60e429d9f3069e5a0c',5,'89d8b2479bce533e4e23fb2e98ca6a947dd811a48e1d7737c82e82d857909e48');
CREATE TABLE schema_tenants (
  namespace_id INTEGER NOT NULL,
  schema_id TEXT NOT NULL,
  version TEXT NOT NULL,
  tenant INTEGER NOT NULL,
  UNIQUE (namespace_id, tenant, schema_id, version)
) STRICT;
CREATE TABLE schemas (
  namespace_id INTEGER NOT NULL,
  schema_id TEXT NOT NULL,
  version TEXT NOT NULL,
  schema_identity TEXT NOT NULL,
  schema_bytes INTEGER NOT NULL,
  seal TEXT NOT NULL,
  record TEXT NOT NULL,
  UNIQUE (namespace_id, schema_id, version)
) STRICT;
CREATE TABLE snapshots (
  run_row INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  state_identity TEXT NOT NULL,
  state TEXT NOT NULL,
  UNIQUE (run_row, revision)
) STRICT;
CREATE TABLE typed_providers (
  namespace_id INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  version TEXT NOT NULL,
  identity TEXT NOT NULL,
  state TEXT NOT NULL,
  typed_protocol TEXT NOT NULL,
  checks INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  seal TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (namespace_id, provider_id, version),
  UNIQUE (namespace_id, provider_id, identity)
) STRICT;
CREATE INDEX laws_listed ON laws (namespace_id, scenario_id, identity);
CREATE UNIQUE INDEX typed_providers_active ON typed_providers (namespace_id, provider_id) WHERE state = 'active';
CREATE INDEX run_index_all ON run_index (namespace_id, created, run_id);
CREATE INDEX run_index_scenario ON run_index (namespace_id, scenario_id, created, run_id);
CREATE INDEX run_index_law ON run_index (namespace_id, law_identity, created, run_id);
CREATE INDEX run_index_status ON run_index (namespace_id, status, created, run_id);
CREATE INDEX run_index_correlation ON run_index (namespace_id, correlation, created, run_id) WHERE correlation <> '';
COMMIT;
