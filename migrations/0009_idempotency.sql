-- 0009: answers to requests that carried an Idempotency-Key.

-- What a request with a key was answered. By (token, key): looked up by every read of a request with that key, and unique,
-- so that one of two at once is refused.
create table idempotent_answers (
  token text not null,                          -- tokens.hash
  key text not null,
  fingerprint text not null,                    -- SHA-256 of method, URL and body
  attempt text not null,                        -- random: whose row it is, where the commit's answer was lost
  answer text not null,                         -- JSON: status, headers, body; never a secret
  expires_at integer not null,
  primary key (token, key)
) strict, without rowid;

-- Those that are too old: each commit with a key removes some.
create index idempotent_answers_expiry on idempotent_answers (expires_at);

insert into schema_version (version) values (9);
