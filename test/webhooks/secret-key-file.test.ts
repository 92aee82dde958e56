import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { webhookSecretKey } from '../../src/webhooks/secret-key-file.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const FILE = 'webhook-secret.key'

t.test('a configured key is used, and no file is made', async (t) => {
  const dataDir = t.testdir()
  const configured = new Uint8Array(32).fill(7)
  t.same(await webhookSecretKey({ webhookSecretKey: configured, dataDir }), configured)
  t.notOk(existsSync(join(dataDir, FILE)))
})

t.test('a key is made once in the data folder, for its owner alone', async (t) => {
  const dataDir = join(t.testdir(), 'not', 'yet')
  const made = await webhookSecretKey({ webhookSecretKey: null, dataDir })
  t.equal(made.length, 32)
  t.equal(statSync(join(dataDir, FILE)).mode & 0o777, 0o600)
  t.equal(readFileSync(join(dataDir, FILE), 'utf8'), `${Buffer.from(made).toString('base64')}\n`)
  t.same(await webhookSecretKey({ webhookSecretKey: null, dataDir }), made)
  t.same(readdirSync(dataDir), [FILE], 'no other file is left')
})

t.test('starts at the same time get the same key', async (t) => {
  const dataDir = t.testdir()
  const keys = await Promise.all(
    Array.from({ length: 8 }, () => webhookSecretKey({ webhookSecretKey: null, dataDir }))
  )
  t.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1)
  t.same(readdirSync(dataDir), [FILE])
})

t.test('a file that holds no key ends the start with its path and what to do', async (t) => {
  for (const text of ['', 'short', 'A'.repeat(44)]) {
    const dataDir = t.testdir()
    writeFileSync(join(dataDir, FILE), text)
    await t.rejects(webhookSecretKey({ webhookSecretKey: null, dataDir }), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE,
      detail: /webhook-secret\.key is not base64 of 32 bytes; restore it/
    })
    t.equal(readFileSync(join(dataDir, FILE), 'utf8'), text, 'it is not replaced')
  }
})

t.test('a data folder that cannot be written is named', async (t) => {
  const dataDir = join(t.testdir({ file: '' }), 'file')
  await t.rejects(webhookSecretKey({ webhookSecretKey: null, dataDir }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: /cannot read or make the key file .*webhook-secret\.key \(ENOTDIR\)/
  })
})
