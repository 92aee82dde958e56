import { createPublicKey, verify } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { callsOnly, readWire, type WireTransaction } from '../../src/chain/wire.ts'
import { fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { randomRuns } from '../random-runs.ts'
import { fromBase64, wireFixtures } from './wire-fixtures.ts'

testWithFixtures(t, 'the signatures of every complete fixture verify over the message that is read', (t) => {
  const versions: Record<string, number> = {}
  for (const { entry, bytes } of wireFixtures()) {
    if (!entry.signature_verified) continue
    const wire = mustRead(bytes)
    t.equal(wire.version, entry.version, entry.file)
    t.ok(everySignatureVerifies(wire), entry.file)
    versions[wire.version] = (versions[wire.version] ?? 0) + 1
  }
  t.same(versions, { legacy: 60, 0: 148, 1: 1 })
})

testWithFixtures(t, 'every transaction of the recorded block verifies', (t) => {
  const { transactions } = fixtureBlock()
  const wires = transactions.map(({ transaction }) => mustRead(fromBase64((transaction as string[])[0]!)))
  t.equal(wires.filter(everySignatureVerifies).length, 602)
})

testWithFixtures(t, 'an independent reader finds the same parts in every fixture', (t) => {
  let compared = 0
  for (const { entry, bytes } of wireFixtures()) {
    const wire = mustRead(bytes)
    const { message, signatures } = VersionedTransaction.deserialize(bytes)
    const { compiledInstructions, addressTableLookups, staticAccountKeys, header } = message
    t.same(
      {
        signatures: wire.signatures.map(hex),
        keys: Array.from({ length: wire.keyCount }, (_, i) => hex(wire.keys.subarray(i * 32, i * 32 + 32))),
        header: [wire.header.signatures, wire.header.readonlySigned, wire.header.readonlyUnsigned],
        instructions: wire.instructions.map((each) => [each.program, [...each.accounts], hex(each.data)]),
        lookups: wire.lookups.map((each) => [hex(each.table), [...each.writable], [...each.readonly]])
      },
      {
        signatures: signatures.map(hex),
        keys: staticAccountKeys.map((key) => hex(key.toBytes())),
        header: [
          header.numRequiredSignatures,
          header.numReadonlySignedAccounts,
          header.numReadonlyUnsignedAccounts
        ],
        instructions: compiledInstructions.map((each) => [
          each.programIdIndex,
          [...each.accountKeyIndexes],
          hex(each.data)
        ]),
        lookups: addressTableLookups.map((each) => [
          hex(each.accountKey.toBytes()),
          each.writableIndexes,
          each.readonlyIndexes
        ])
      },
      entry.file
    )
    compared++
  }
  t.equal(compared, 221)
})

testWithFixtures(t, 'version 1 carries its budget in the message', (t) => {
  const v1 = wireFixtures().find(({ entry }) => entry.version === 1)!
  t.same(mustRead(v1.bytes).config, {
    priorityFeeLamports: 30612n,
    computeUnitLimit: 800000,
    loadedAccountsBytesMax: 67108864,
    heapBytes: null
  })
})

testWithFixtures(t, 'a transaction cut anywhere, or with a byte more, is unreadable and says why', (t) => {
  const samples = (['legacy', 0, 1] as const).map((version) =>
    wireFixtures().find(({ entry }) => entry.version === version)!
  )
  for (const { bytes } of samples) {
    const whole: number[] = []
    for (let size = 0; size < bytes.length; size++) {
      const outcome = readWire(bytes.subarray(0, size))
      if (outcome.kind === 'wire') whole.push(size)
    }
    t.same(whole, [])
    t.match(readWire(Uint8Array.from([...bytes, 0])), {
      kind: 'unreadable',
      reason: 'bytes after the transaction'
    })
  }
})

testWithFixtures(t, 'a changed byte never throws, and what is read stays within the keys', (t) => {
  const samples = wireFixtures().map(({ bytes }) => bytes)
  fc.assert(
    fc.property(
      fc.constantFrom(...samples),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (bytes, changes) => {
        const changed = Uint8Array.from(bytes)
        for (const [at, value] of changes) changed[at % bytes.length] = value
        const outcome = readWire(changed)
        return outcome.kind === 'unreadable' || indexesAreInside(outcome.wire)
      }
    ),
    randomRuns(2000, 7)
  )
  t.pass('no counter-example')
})

t.test('bytes that are no transaction never throw', (t) => {
  const nothing = readWire(new Uint8Array(0))
  t.match(nothing, { kind: 'unreadable', reason: 'transaction bytes end early' })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const outcome = readWire(bytes)
      return outcome.kind === 'unreadable' || indexesAreInside(outcome.wire)
    }),
    randomRuns(2000, 7)
  )
  t.end()
})

t.test('a version that is not known is named', (t) => {
  const one = [1, ...new Uint8Array(64)]
  t.match(readWire(Uint8Array.from([...one, 0x82, 1, 0, 0])), { reason: 'message version 2' })
  const config = [0x81, 1, 0, 0, 0b100000, 0, 0, 0, ...new Uint8Array(32), 0, 1, ...new Uint8Array(32)]
  t.match(readWire(Uint8Array.from(config)), { reason: 'transaction config mask 32' })
  t.end()
})

t.test('a transaction without instructions calls no program only', (t) => {
  const empty = [1, ...new Uint8Array(64), 1, 0, 0, 1, ...new Uint8Array(32), ...new Uint8Array(32), 0]
  t.equal(callsOnly(mustRead(Uint8Array.from(empty)), new Uint8Array(32)), false)
  const one = [...empty.slice(0, -1), 1, 0, 0, 0]
  t.equal(callsOnly(mustRead(Uint8Array.from(one)), new Uint8Array(32)), true)
  t.equal(callsOnly(mustRead(Uint8Array.from(one)), new Uint8Array(32).fill(1)), false)
  t.end()
})

function mustRead(bytes: Uint8Array): WireTransaction {
  const outcome = readWire(bytes)
  if (outcome.kind === 'unreadable') throw new Error(outcome.reason)
  return outcome.wire
}

function everySignatureVerifies({ message, signatures, keys }: WireTransaction): boolean {
  return signatures.every((signature, i) => {
    const x = Buffer.from(keys.subarray(i * 32, i * 32 + 32)).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, message, key, signature)
  })
}

function indexesAreInside({ keyCount, lookups, instructions }: WireTransaction): boolean {
  const count = lookups.reduce((sum, each) => sum + each.writable.length + each.readonly.length, keyCount)
  return instructions.every(({ program, accounts }) => program < count && accounts.every((at) => at < count))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
