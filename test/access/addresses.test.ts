import fc from 'fast-check'
import t from 'tap'
import { AddressRanges, isAddressRange } from '../../src/access/address-ranges.ts'
import { clientNetwork } from '../../src/access/client-network.ts'
import { isWebOrigin } from '../../src/access/web-origin.ts'
import { randomRuns } from '../random-runs.ts'

t.test('an address or CIDR range of IPv4 or IPv6 is one, and nothing else is', (t) => {
  const good = [
    '10.0.0.1',
    '10.0.0.0/8',
    '10.1.2.3/8',
    '0.0.0.0/0',
    '1.2.3.4/32',
    '::1',
    '2001:db8::/32',
    '::/0'
  ]
  const bad = [
    ...[
      '',
      ' ',
      '10.0.0',
      '10.0.0.256',
      '010.0.0.1',
      '10.0.0.1/33',
      '10.0.0.1/',
      '10.0.0.1/08',
      '10.0.0.1/-1'
    ],
    ...[
      '10.0.0.1/8/8',
      '10.0.0.1 ',
      ' 10.0.0.1',
      '10.0.0.1\n',
      'localhost',
      '::1/129',
      ':::',
      'fe80::1%eth0'
    ],
    ...[
      '::ffff:10.0.0.1',
      '::ffff:10.0.0.0/104',
      '0:0:0:0:0:ffff:a00:1',
      '10.0.0.*',
      '0x0a000001',
      '167772161'
    ]
  ]
  for (const text of good) t.ok(isAddressRange(text), text)
  for (const text of bad) t.notOk(isAddressRange(text), JSON.stringify(text))
  t.throws(() => new AddressRanges(['nowhere']), TypeError)
  t.end()
})

t.test('ranges contain their addresses in every notation that a socket reports', (t) => {
  const ranges = new AddressRanges(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32', 'fe80::1'])
  for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '192.0.2.7', '::ffff:192.0.2.7'])
    t.ok(ranges.includes(address), address)
  for (const address of ['2001:db8::', '2001:db8:ffff::1', '2001:DB8::1', 'fe80::1', 'fe80::1%eth0'])
    t.ok(ranges.includes(address), address)
  for (const address of [
    '10.2.0.0',
    '10.0.255.255',
    '192.0.2.8',
    '::ffff:192.0.2.8',
    '2001:db9::1',
    '::1',
    'x',
    ''
  ])
    t.notOk(ranges.includes(address), address)
  const all = { v4: new AddressRanges(['0.0.0.0/0']), v6: new AddressRanges(['::/0']) }
  t.ok(all.v4.includes('203.0.113.9') && all.v4.includes('::ffff:203.0.113.9') && all.v6.includes('2001::9'))
  t.notOk(all.v4.includes('2001::9'), 'IPv6 is no IPv4')
  t.notOk(all.v6.includes('203.0.113.9') || all.v6.includes('::ffff:203.0.113.9'), 'IPv4 is no IPv6')
  t.end()
})

t.test('an IPv4 range holds exactly the addresses that share its first bits', (t) => {
  const octets = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 })
  const numberOf = (parts: readonly number[]) => parts.reduce((sum, part) => sum * 256 + part, 0)
  fc.assert(
    fc.property(octets, octets, fc.nat(32), (network, address, bits) => {
      const size = 2 ** (32 - bits)
      const expected = Math.floor(numberOf(network) / size) === Math.floor(numberOf(address) / size)
      t.equal(new AddressRanges([`${network.join('.')}/${bits}`]).includes(address.join('.')), expected)
    }),
    randomRuns(100)
  )
  t.end()
})

t.test('a client is its IPv4 address or its /64', (t) => {
  t.equal(clientNetwork('203.0.113.9'), '203.0.113.9')
  t.equal(clientNetwork('::ffff:203.0.113.9'), '203.0.113.9')
  t.equal(clientNetwork('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  for (const [one, other] of [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8::1', '2001:db8::2:3:4:5'],
    ['::1', '::2'],
    ['1::', '1::2']
  ] as const)
    t.equal(clientNetwork(one), clientNetwork(other), `${one} and ${other}`)
  for (const [one, other] of [
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db9::1'],
    ['1:0:0:2::3', '1::3']
  ] as const)
    t.not(clientNetwork(one), clientNetwork(other), `${one} and ${other}`)
  t.end()
})

t.test('an origin is scheme, host and port as browsers write them', (t) => {
  for (const text of ['https://app.example.org', 'http://localhost:3000', 'https://xn--bcher-kva.example'])
    t.ok(isWebOrigin(text), text)
  const bad = ['*', 'null', '', 'app.example.org', 'https://app.example.org/', 'https://App.example.org']
  const worse = [
    'https://a.example:443',
    'file:///etc',
    'https://u:p@a.example',
    'https://*.a.example',
    'https://'
  ]
  for (const text of [...bad, ...worse, 'https://a.example\n'])
    t.notOk(isWebOrigin(text), JSON.stringify(text))
  t.end()
})
