import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { base58SizeTest, decodeBase58, encodeBase58, isBase58 } from '../../src/chain/base58.ts'
import { randomRuns } from '../random-runs.ts'

t.test('known texts and bytes give each other', (t) => {
  const pairs = [
    ['', ''],
    ['1', '00'],
    ['111', '000000'],
    ['2', '01'],
    ['z', '39'],
    ['21', '3a'],
    ['1112', '00000001'],
    ['StV1DL6CwTryKyV', '68656c6c6f20776f726c64'],
    [
      'So11111111111111111111111111111111111111112',
      '069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001'
    ]
  ] as const
  for (const [text, hex] of pairs) {
    t.equal(decodeBase58(text).toHex(), hex, `decodes ${text}`)
    t.equal(encodeBase58(Uint8Array.fromHex(hex)), text, `encodes ${hex}`)
  }
  t.end()
})

t.test('any bytes come back from their text', (t) => {
  const bytes = fc.tuple(fc.nat(4), fc.uint8Array({ maxLength: 400 })).map(([zeros, rest]) => {
    return Uint8Array.from([...new Uint8Array(zeros), ...rest])
  })
  fc.assert(
    fc.property(bytes, (original) => {
      const text = encodeBase58(original)
      t.ok(isBase58(text))
      return Buffer.compare(decodeBase58(text), original) === 0
    }),
    randomRuns(500, 7)
  )
  t.end()
})

t.test('addresses read as an independent library reads them', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      return encodeBase58(key) === new PublicKey(key).toBase58()
    }),
    randomRuns(200, 7)
  )
  t.equal(decodeBase58(PublicKey.default.toBase58()).length, 32)
  t.end()
})

t.test(
  'keys and signatures, whose sizes have a table each, read as the same number a byte longer does',
  (t) => {
    const edges = (size: number) => [
      new Uint8Array(size),
      new Uint8Array(size).fill(255),
      Uint8Array.from({ length: size }, (_, i) => (i === 0 ? 1 : 0)),
      Uint8Array.from({ length: size }, (_, i) => (i === size - 1 ? 1 : 0))
    ]
    const sparse = (size: number) =>
      fc
        .array(fc.constantFrom(0, 0, 1, 57, 58, 255), { minLength: size, maxLength: size })
        .map((bytes) => Uint8Array.from(bytes))
    for (const size of [32, 64]) {
      // Sizes without a table use the big integer. A leading zero byte is a leading 1.
      const isSame = (bytes: Uint8Array) =>
        `1${encodeBase58(bytes)}` === encodeBase58(Uint8Array.from([0, ...bytes]))
      for (const bytes of edges(size)) t.ok(isSame(bytes), bytes.toHex())
      const any = fc.oneof(fc.uint8Array({ minLength: size, maxLength: size }), sparse(size))
      fc.assert(fc.property(any, isSame), randomRuns(2000, 7))
    }
    t.end()
  }
)

t.test('a character outside the alphabet is named with its position', (t) => {
  for (const bad of ['0', 'O', 'I', 'l', ' ', '+', 'é', '\u{1F600}', '\n']) {
    t.equal(isBase58(`abc${bad}`), false)
    t.throws(() => decodeBase58(`abc${bad}`), { name: 'RangeError', message: /at position 3/ })
  }
  t.end()
})

t.test('the size test says of any text what decoding it says', (t) => {
  for (const size of [1, 32, 64]) {
    const isSized = base58SizeTest(size)
    const edge = [size - 1, size, size + 1].flatMap((length) => [
      encodeBase58(new Uint8Array(length)),
      encodeBase58(new Uint8Array(length).fill(255)),
      encodeBase58(Uint8Array.from({ length }, (_, i) => (i === 0 ? 1 : 0))),
      encodeBase58(Uint8Array.from({ length }, (_, i) => (i === 0 ? 0 : 255)))
    ])
    for (const text of edge) t.equal(isSized(text), decodeBase58(text).length === size, text)
    const digits = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl ')
    const texts = fc.oneof(
      fc.string({ unit: digits, minLength: size, maxLength: Math.ceil(size * 1.4) }),
      fc.uint8Array({ minLength: size - 1, maxLength: size + 1 }).map(encodeBase58)
    )
    fc.assert(
      fc.property(texts, (text) => isSized(text) === (isBase58(text) && decodeBase58(text).length === size)),
      randomRuns(1000, 7)
    )
  }
  t.end()
})
