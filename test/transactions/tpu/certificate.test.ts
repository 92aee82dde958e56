import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { decodeBase58 } from '../../../src/chain/base58.ts'
import { tlsIdentity } from '../../../src/transactions/tpu/certificate.ts'
import { ephemeralIdentity } from '../../../src/transactions/tpu/identity.ts'

t.test('a certificate is signed by its own key, and carries the identity', async (t) => {
  for (let round = 0; round < 50; round++) {
    const { privateKey, address } = ephemeralIdentity()
    const { certificate, key } = tlsIdentity(privateKey)
    const read = new X509Certificate(certificate)
    t.equal(read.subject, 'CN=Solana node')
    t.equal(read.issuer, read.subject)
    t.ok(read.checkIssued(read), 'it is its own issuer')
    t.ok(read.verify(read.publicKey), 'its signature holds')
    t.ok(read.checkPrivateKey(privateKey))
    const { x } = read.publicKey.export({ format: 'jwk' })
    t.same(Buffer.from(x!, 'base64url'), Buffer.from(decodeBase58(address)))
    t.ok(new Date(read.validFrom).getTime() === 0 && new Date(read.validTo).getFullYear() >= 9_999)
    t.match(key, /^-----BEGIN PRIVATE KEY-----\n/)
  }
})
