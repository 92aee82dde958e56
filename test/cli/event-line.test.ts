import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { eventLine, gapLine } from '../../src/stream/commands/event-line.ts'
import type { StreamEvent } from '../../src/client/client.ts'
import * as example from '../../src/stream/routes/stream-examples.ts'

const { EXAMPLE_MINT: MINT, EXAMPLE_POOL: POOL } = example
const on = { channel: 'launches', cursor: 1, replay: false } as const
const TIME = /^03:33:20\.450 {2}/
const SIGNATURE = ` {2}${example.EXAMPLE_TRADE.signature}$`

t.test('each kind of event has a line, with the time, what happened and the transaction', (t) => {
  const trade = example.EXAMPLE_TRADE
  const curve = example.EXAMPLE_CURVE
  const lines: [event: StreamEvent, says: RegExp][] = [
    [
      { ...on, kind: 'trade', data: trade },
      /pumpfun {2}sell {2}1000000 \w+ for 0\.5 SOL at 5e-7 {2}85\.00 USD/
    ],
    [
      { ...on, kind: 'trade', data: { ...trade, event: 'swap', amount_usd: null } },
      new RegExp(`swap  1000000 ${MINT} for 0\\.5 SOL`)
    ],
    [{ ...on, kind: 'launch', data: example.EXAMPLE_LAUNCH }, /launch {2}"PUFN" "Basalt Puffin" \w+ by \w+/],
    [{ ...on, kind: 'curve', data: curve }, new RegExp(`curve create  ${MINT} in \\w+  0\\.0 %`)],
    [{ ...on, kind: 'liquidity', data: example.EXAMPLE_LIQUIDITY }, /liquidity add {2}2000000 \w+ and 1 SOL/],
    [{ ...on, kind: 'pool', data: example.EXAMPLE_POOL_EVENT }, new RegExp(`pool create  ${POOL} of ${MINT}`)]
  ]
  for (const [event, says] of lines) {
    const line = eventLine(event)
    t.match(line, TIME)
    t.match(line, says)
    t.match(line, new RegExp(SIGNATURE))
  }
  t.match(
    eventLine({ ...on, kind: 'price', data: example.EXAMPLE_TICK }),
    new RegExp(`price  ${MINT} 5e-7 SOL$`)
  )
  t.match(
    eventLine({ ...on, kind: 'webhook', data: example.EXAMPLE_DEACTIVATION }),
    / {2}webhook deactivated {2}196744173809221 "https:\/\/example.com\/hook" consecutive_failures$/
  )
  t.match(eventLine({ ...on, kind: 'webhook', data: example.EXAMPLE_DROPS }), /webhook dropped .* 64 events$/)
  const row = { ...on, kind: 'ledger', data: example.EXAMPLE_LEDGER_ENTRY } as const
  t.match(
    eventLine(row),
    new RegExp(`ledger entry {2}"Creator fees" fee 0\\.0045 "SOL" {2}0\\.77 USD${SIGNATURE}`)
  )
  const unknown = { ...row.data, event: 'retracted', symbol: null, value_usd: null, delta: -2 } as const
  t.match(
    eventLine({ ...row, data: unknown }),
    new RegExp(`ledger retracted {2}"Creator fees" fee -2 ${WSOL}${SIGNATURE}`)
  )
  t.end()
})

t.test('a name with characters that move a terminal is shown as text', (t) => {
  const data = { ...example.EXAMPLE_LAUNCH, name: 'a\u001b[2J\u009b1m\u202eb\nc', symbol: '"' }
  const line = eventLine({ ...on, kind: 'launch', data })
  t.notMatch(line, /\p{C}/u)
  t.match(line, '"\\"" "a?[2J?1m?b?c"')
  t.end()
})

t.test('a gap says what is missing', (t) => {
  const gap = {
    kind: 'gap',
    reason: 'beyond_replay_horizon',
    channels: ['launches'],
    since: 1,
    until: 5
  } as const
  t.equal(gapLine(gap), 'gap: events of launches after 1 up to 5 are missing (beyond_replay_horizon)')
  t.match(gapLine({ ...gap, until: null }), / after 1 are missing/)
  t.end()
})
