import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import t from 'tap'
import { ephemeralIdentity, parseIdentity, readIdentityFile } from '../../../src/transactions/tpu/identity.ts'

const bytesOf = (pair: Keypair): number[] => [...pair.secretKey]

t.test('a keypair file of the usual tools is read, with its public key', async (t) => {
  const file = join(t.testdir(), 'id.json')
  for (let round = 0; round < 20; round++) {
    const pair = Keypair.generate()
    writeFileSync(file, JSON.stringify(bytesOf(pair)))
    t.equal((await readIdentityFile(file)).address, pair.publicKey.toBase58())
  }
})

t.test('a text that is no keypair is refused, and none of it is shown', async (t) => {
  const bytes = bytesOf(Keypair.generate())
  const noArray = /^is not a JSON array of 64 bytes/
  for (const [text, message] of [
    ['', noArray],
    ['{}', noArray],
    ['"text"', noArray],
    [JSON.stringify(bytes.slice(0, 32)), noArray],
    [JSON.stringify([...bytes, 1]), noArray],
    [JSON.stringify(bytes.with(3, 256)), noArray],
    [JSON.stringify(bytes.with(3, 1.5)), noArray],
    [JSON.stringify(bytes.with(63, bytes[63]! ^ 1)), /last 32 bytes are not the public key/]
  ] as const) {
    t.throws(() => parseIdentity(text), { name: 'TypeError', message })
  }
})

t.test('a file that cannot be used is named, with the setting that names it', async (t) => {
  const folder = t.testdir({ 'id.json': '[1, 2, 3]' })
  await t.rejects(readIdentityFile(join(folder, 'id.json')), {
    message: /^MILLRACE_TPU_IDENTITY=.*id\.json is not a JSON array of 64 bytes/
  })
  await t.rejects(readIdentityFile(join(folder, 'none.json')), {
    message: /^MILLRACE_TPU_IDENTITY=.*none\.json cannot be read \(ENOENT\)$/
  })
})

t.test('each ephemeral identity is another one', async (t) => {
  t.not(ephemeralIdentity().address, ephemeralIdentity().address)
})
