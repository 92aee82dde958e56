import fc from 'fast-check'
import t from 'tap'
import { plainAddress, publicAddress } from '../../src/webhooks/public-address.ts'
import { randomRuns } from '../random-runs.ts'

/** Addresses that are not public, by the range that they are in. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    'fc00::1',
    'fdff::1'
  ],
  'link-local': ['169.254.0.1', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  'site-local': ['fec0::1', 'feff::1'],
  shared: ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '192.0.0.192'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.255', '192.88.99.1', '2001:1::1'],
  mapped: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
  compatible: ['::127.0.0.1', '::7f00:1', '::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '64:ff9b:1:fffe::10.0.0.1'],
  '6to4': ['2002:7f00:1::', '2002:0808:0808::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  unallocated: ['100::1', '4000::1', 'e000::1', '5f00::1'],
  'no address': ['', 'localhost', '127.1', '0x7f000001', '2130706433', '1.2.3.4.5', '8.8.8.08', '[::1]']
}

for (const [range, addresses] of Object.entries(REFUSED))
  t.test(`an address is not public: ${range}`, async (t) => {
    for (const address of addresses) t.equal(publicAddress(address), null, address)
  })

t.test('a public address is returned in its plain form', async (t) => {
  const cases: [text: string, plain: string][] = [
    ['8.8.8.8', '8.8.8.8'],
    ['1.1.1.1', '1.1.1.1'],
    ['172.32.0.1', '172.32.0.1'],
    ['100.63.255.255', '100.63.255.255'],
    ['2606:4700:4700:0:0:0:0:1111', '2606:4700:4700::1111'],
    ['2A00:1450::1', '2a00:1450::1'],
    ['::ffff:8.8.8.8', '8.8.8.8']
  ]
  for (const [text, plain] of cases) t.equal(publicAddress(text), plain)
})

t.test('a private address is plain without being public', async (t) => {
  t.equal(plainAddress('127.0.0.1'), '127.0.0.1')
  t.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1')
  t.equal(plainAddress('0:0:0:0:0:0:0:1'), '::1')
  t.equal(plainAddress('fe80::1%eth0'), null)
})

t.test('no way of writing an address inside IPv6 makes a private one public', async () => {
  const privateAddress = fc.oneof(
    fc.tuple(fc.constant(10), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(127), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255))
  )
  const hex = (high: number, low: number): string => (high * 256 + low).toString(16)
  fc.assert(
    fc.property(privateAddress, ([a, b, c, d]) => {
      const [first, second] = [hex(a, b), hex(c, d)]
      const forms = [
        `${a}.${b}.${c}.${d}`,
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${first}:${second}`,
        `0:0:0:0:0:FFFF:${first}:${second}`,
        `::${first}:${second}`,
        `64:ff9b::${first}:${second}`,
        `64:ff9b:1::${first}:${second}`,
        `2002:${first}:${second}::1`,
        `::ffff:0:${first}:${second}`
      ]
      return forms.every((form) => publicAddress(form) === null)
    }),
    randomRuns(500)
  )
})
