import { createPrivateKey, sign } from 'node:crypto'
import type { PublicKey } from '@solana/web3.js'
import {
  AddressLookupTableAccount,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction
} from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { signerOf } from '../../src/signing/ed25519.ts'
import {
  checkBase64,
  checkTransaction,
  type CheckedTransaction,
  type Refusal
} from '../../src/transactions/checked-transaction.ts'
import { fromBase64, wireFixtures } from '../chain/wire-fixtures.ts'
import { fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { randomRuns } from '../random-runs.ts'
import { BLOCKHASH, signedWire, toBase64, transfer, wallet } from './signed.ts'

testWithFixtures(t, 'every signed transaction of the fixtures is accepted, of every version', (t) => {
  const versions: Record<string, number> = {}
  for (const { entry, bytes } of wireFixtures()) {
    if (!entry.signature_verified) continue
    const transaction = accepted(bytes)
    t.equal(transaction.signature, entry.signature, entry.file)
    versions[transaction.version] = (versions[transaction.version] ?? 0) + 1
  }
  t.same(versions, { legacy: 60, 0: 148, 1: 1 })
})

testWithFixtures(t, 'every transaction of the recorded block is accepted', (t) => {
  for (const { transaction } of fixtureBlock().transactions) {
    const bytes = fromBase64((transaction as string[])[0]!)
    if (!checkTransaction(bytes).ok) t.fail(refusalOf(bytes).reason)
  }
  t.pass('602 of them')
})

testWithFixtures(t, 'a signed transaction with any byte changed is refused', (t) => {
  const samples = wireFixtures().filter(({ entry }) => entry.signature_verified)
  fc.assert(
    fc.property(
      fc.constantFrom(...samples),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      ({ bytes }, at, by) => {
        const changed = Uint8Array.from(bytes)
        changed[at % bytes.length]! ^= by
        return !checkTransaction(changed).ok
      }
    ),
    randomRuns(300)
  )
  t.pass('no counter-example')
})

t.test('what is accepted is what web3.js reads, whatever was changed before signing', (t) => {
  const seed = wallet(1).secretKey.slice(0, 32)
  const bytes = signedWire([transfer(5n), transfer(7n, wallet(3).publicKey)])
  let ok = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(3), (changes, cut) => {
      const message = Uint8Array.from(bytes.subarray(65, bytes.length - (cut === 3 ? 1 : 0)))
      for (const [at, value] of changes) message[at % message.length] = value
      const changed = Uint8Array.from([1, ...signerOf(seed).sign(message), ...message])
      const outcome = checkTransaction(changed)
      if (!outcome.ok) return true
      ok++
      const read = VersionedTransaction.deserialize(changed)
      return (
        Buffer.compare(read.serialize(), changed) === 0 &&
        encodeBase58(read.signatures[0]!) === outcome.transaction.signature &&
        read.message.recentBlockhash === outcome.transaction.blockhash
      )
    }),
    randomRuns(500)
  )
  t.ok(ok > 50, `${ok} were accepted`)
  t.end()
})

t.test('what web3.js signs is accepted, legacy and version 0, with any number of signers', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('legacy' as const, 0 as const),
      fc.integer({ min: 1, max: 6 }),
      fc.uint8Array({ maxLength: 300 }),
      (version, count, data) => {
        const signers = Array.from({ length: count }, (_, i) => wallet(i + 1))
        const keys = signers.map(({ publicKey }) => ({
          pubkey: publicKey,
          isSigner: true,
          isWritable: false
        }))
        const call = new TransactionInstruction({
          programId: wallet(9).publicKey,
          keys,
          data: Buffer.from(data)
        })
        const bytes = signedWire([call], { version, signers })
        const { feePayer, blockhash, nonce } = accepted(bytes)
        return feePayer === signers[0]!.publicKey.toBase58() && blockhash === BLOCKHASH && nonce === null
      }
    ),
    randomRuns(60)
  )
  t.pass('no counter-example')
  t.end()
})

t.test('bytes that a node cannot read are malformed', (t) => {
  const bytes = signedWire([transfer()])
  const legacy = signedWire([transfer()], { version: 'legacy' })
  const version2 = Uint8Array.from(bytes)
  version2[65] = 0x82
  const cases: [string, Uint8Array, RegExp][] = [
    ['no bytes', new Uint8Array(0), /^is empty$/],
    ['1,233 bytes', new Uint8Array(1_233).fill(1), /too large: 1233 bytes \(max: 1232 bytes\)/],
    [
      '4,097 bytes of version 1',
      new Uint8Array(4_097).fill(0x81),
      /too large: 4097 bytes \(max: 4096 bytes\)/
    ],
    ['a byte less', bytes.subarray(0, -1), /end early/],
    ['a byte more', Uint8Array.from([...bytes, 0]), /bytes after the transaction/],
    ['an unknown version', version2, /message version 2/],
    ['a padded size', Uint8Array.from([0x81, 0, ...legacy.subarray(1)]), /end early|number|mask/],
    // A signature count of 0x01 padded to two bytes is indistinguishable from version 1, so a later size is padded.
    ['a padded account count', padded(legacy), /shortest form/]
  ]
  for (const [name, wire, reason] of cases) {
    const refusal = refusalOf(wire)
    t.equal(refusal.kind, 'malformed', name)
    t.match(refusal.reason, reason, name)
  }
  t.end()
})

t.test('a message that a node refuses is malformed, although it is signed', (t) => {
  const message = signedWire([transfer()], { version: 'legacy' }).subarray(65)
  const changed = (change: (message: Uint8Array) => void): Uint8Array => {
    const copy = Uint8Array.from(message)
    change(copy)
    return resigned(copy)
  }
  const programAt = message.length - 17
  t.equal(message[programAt], 2, 'the index of the program')
  const cases: [Uint8Array, RegExp][] = [
    [changed((m) => (m[1] = 1)), /fee payer is not writable/],
    [changed((m) => (m[2] = 3)), /counts more accounts/],
    [changed((m) => (m[programAt] = 0)), /program is the fee payer/],
    [changed((m) => (m[programAt] = 3)), /program index/],
    [changed((m) => (m[programAt + 2] = 9)), /account index/],
    [changed((m) => m.copyWithin(4 + 32, 4, 4 + 32)), /lists the account .* twice/]
  ]
  for (const [wire, reason] of cases) {
    const refusal = refusalOf(wire)
    t.equal(refusal.kind, 'malformed')
    t.match(refusal.reason, reason)
  }
  t.equal(checkTransaction(changed(() => undefined)).ok, true)
  t.end()
})

t.test('a lookup table of which nothing is used, and too many accounts, are malformed', (t) => {
  const bytes = signedWire([transfer()])
  const table = [...wallet(5).publicKey.toBytes(), 0, 0]
  const message = Uint8Array.from([...bytes.subarray(65, -1), 1, ...table])
  t.match(refusalOf(resigned(message)).reason, /lookup table of which no account/)

  const addresses = Array.from({ length: 200 }, (_, i) => wallet(100 + i).publicKey)
  const many = (count: number): Uint8Array =>
    signedWire(
      [
        new TransactionInstruction({
          programId: wallet(9).publicKey,
          keys: addresses.slice(0, count).map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
          data: Buffer.alloc(0)
        })
      ],
      { lookups: [tableOf(addresses)] }
    )
  t.equal(checkTransaction(many(126)).ok, true, '128 with the fee payer and the program')
  t.match(refusalOf(many(127)).reason, /uses 129 accounts \(max: 128\)/)
  t.end()
})

t.test('version 1 keeps the limits of SIMD-0385', (t) => {
  const valid = version1({})
  t.match(accepted(valid), { version: 1, feePayer: wallet(1).publicKey.toBase58() })
  t.match(accepted(version1({ dataBytes: 3_700 })), { version: 1 }, 'larger than a packet')
  const cases: [Uint8Array, RegExp][] = [
    [version1({ dataBytes: 4_096 }), /too large/],
    [version1({ accounts: 65 }), /65 accounts \(max: 64\)/],
    [version1({ instructions: 65 }), /65 instructions \(max: 64\)/],
    [version1({ signers: 13 }), /13 signatures \(max: 12\)/],
    [version1({ repeated: true }), /listed twice/],
    [version1({ heapBytes: 33_000 }), /a heap of 33000 bytes/],
    [version1({ heapBytes: 512 * 1_024 }), /a heap of/]
  ]
  for (const [wire, reason] of cases) t.match(refusalOf(wire), { kind: 'malformed', reason })
  t.equal(checkTransaction(version1({ heapBytes: 64 * 1_024, accounts: 64, instructions: 64 })).ok, true)
  t.equal(checkTransaction(version1({ signers: 12 })).ok, true)
  t.end()
})

t.test('a missing, a wrong and a lacking signature are told apart from malformed bytes', (t) => {
  const two = signedWire([transfer()], { signers: [wallet(1)] })
  const zeros = Uint8Array.from(two).fill(0, 1, 65)
  t.match(refusalOf(zeros), {
    kind: 'unsigned',
    reason: `is not signed by ${wallet(1).publicKey.toBase58()}`
  })
  const wrong = Uint8Array.from(two)
  wrong[10]! ^= 1
  t.match(refusalOf(wrong), { kind: 'unsigned', reason: /does not verify/ })
  t.match(refusalOf(Uint8Array.from([0, ...two.subarray(65)])), {
    kind: 'unsigned',
    reason: 'has fewer signatures than its header requires'
  })
  const more = Uint8Array.from([2, ...two.subarray(1, 65), ...two.subarray(1)])
  t.match(refusalOf(more), { kind: 'malformed', reason: /too many signatures/ })
  t.end()
})

t.test('a durable nonce is told by the first instruction', (t) => {
  const [nonce, authority] = [wallet(20), wallet(1)]
  const advance = SystemProgram.nonceAdvance({
    noncePubkey: nonce.publicKey,
    authorizedPubkey: authority.publicKey
  })
  t.same(accepted(signedWire([advance, transfer()])).nonce, {
    account: nonce.publicKey.toBase58(),
    authority: authority.publicKey.toBase58()
  })
  t.equal(accepted(signedWire([transfer(), advance])).nonce, null, 'not as the second one')
  const readonly = new TransactionInstruction({
    ...advance,
    keys: advance.keys.map((key) => ({ ...key, isWritable: false }))
  })
  t.equal(accepted(signedWire([readonly])).nonce, null, 'not with a readonly account')
  const loaded = signedWire([advance], { lookups: [tableOf([nonce.publicKey])] })
  t.equal(accepted(loaded).nonce, null, 'not with an account of a lookup table')
  t.end()
})

t.test('only standard base64 with padding is read', (t) => {
  const bytes = signedWire([transfer()])
  const text = toBase64(bytes)
  t.ok(text.endsWith('='), 'an example with padding')
  t.equal(checkBase64(text).ok, true)
  const faults = [
    'not base64!',
    text.slice(0, -1),
    ` ${text}`,
    `${text}\n`,
    text.replaceAll('=', ''),
    Buffer.from(bytes).toString('base64url')
  ]
  for (const fault of faults)
    t.match(checkBase64(fault), { ok: false, kind: 'malformed', reason: /^is not base64/ }, fault)
  t.match(checkBase64(''), { kind: 'malformed', reason: 'is empty' })
  t.match(checkBase64('A'.repeat(10_000)), { kind: 'malformed', reason: /more than 4,096 bytes/ })
  t.end()
})

function accepted(bytes: Uint8Array): CheckedTransaction {
  const outcome = checkTransaction(bytes)
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.transaction
}

function refusalOf(bytes: Uint8Array): Refusal {
  const outcome = checkTransaction(bytes)
  if (outcome.ok) throw new Error('it was accepted')
  return outcome
}

/** Returns the transaction of a message with wallet 1 as its only signer. */
function resigned(message: Uint8Array): Uint8Array {
  return Uint8Array.from([1, ...signatureOf(1, message), ...message])
}

/** Signs by the private key of web3.js, independently of the signer of the service. */
function signatureOf(number: number, message: Uint8Array): Uint8Array {
  const seed = wallet(number).secretKey.slice(0, 32)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return sign(null, message, createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

/** Writes the account count of a legacy transaction in two bytes instead of one. */
function padded(legacy: Uint8Array): Uint8Array {
  const message = legacy.subarray(65)
  return resigned(Uint8Array.from([...message.subarray(0, 3), message[3]! | 0x80, 0, ...message.subarray(4)]))
}

function tableOf(addresses: readonly PublicKey[]): AddressLookupTableAccount {
  return new AddressLookupTableAccount({
    key: wallet(50).publicKey,
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [...addresses]
    }
  })
}

/** Writes a transaction of version 1 by hand, as SIMD-0385 lays it out. */
function version1({
  signers = 1,
  accounts,
  instructions = 1,
  dataBytes = 0,
  heapBytes = null,
  repeated = false
}: {
  signers?: number
  accounts?: number
  instructions?: number
  dataBytes?: number
  heapBytes?: number | null
  repeated?: boolean
}): Uint8Array {
  const u32 = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24]
  const keys = Array.from({ length: accounts ?? signers + 1 }, (_, i) => [
    ...wallet(i + 1).publicKey.toBytes()
  ])
  if (repeated) keys.push(keys[1]!)
  const message = Uint8Array.from([
    0x81,
    ...[signers, 0, 1],
    ...u32(heapBytes === null ? 0 : 0b10000),
    ...wallet(1_000).publicKey.toBytes(),
    instructions,
    keys.length,
    ...keys.flat(),
    ...(heapBytes === null ? [] : u32(heapBytes)),
    ...Array.from({ length: instructions }, () => [1, 0, dataBytes & 255, dataBytes >> 8]).flat(),
    ...new Uint8Array(instructions * dataBytes)
  ])
  const signatures = Array.from({ length: signers }, (_, i) => [...signatureOf(i + 1, message)])
  return Uint8Array.from([...message, ...signatures.flat()])
}
