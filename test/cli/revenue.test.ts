import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { LedgerGaps } from '../../src/revenue/ledger-gap.ts'
import { ALICE, BOB, entry, revenueClient, signatureOf } from '../revenue/revenue-client.ts'
import { runCommand } from './run-command.ts'

/** A listening service, and the command `millrace revenue` with a key of `acme`. */
async function service(t: Test) {
  const app = await revenueClient(t)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const key = await app.makeKey(['revenue'])
  const environment = { MILLRACE_KEY: key, MILLRACE_PORT: String(port) }
  const revenue = (...args: string[]) => runCommand(['revenue', ...args], environment)
  return { app, revenue, environment }
}

t.test('an address is watched, changed, listed and unwatched by commands', async (t) => {
  const { revenue } = await service(t)
  const watched = await revenue('watch', ALICE, '--label', 'Fees', '--role', 'fee_wallet', '--json')
  t.match({ code: watched.code, stderr: watched.stderr }, { code: 0, stderr: '' })
  t.match(watched.rows(), [{ address: ALICE, label: 'Fees', role: 'fee_wallet', status: 'starting' }])
  t.match((await revenue('watch', ALICE, '--json')).rows(), [{ label: ALICE, role: 'other' }])
  t.match((await revenue('accounts', '--json')).rows(), [{ address: ALICE, label: ALICE, events: 0 }])
  t.match((await revenue('unwatch', ALICE, '--json')).rows(), [{ address: ALICE, deleted: true }])
  t.match(await revenue('unwatch', ALICE), {
    code: 1,
    lines: [],
    stderr: 'millrace: this tenant does not watch this address'
  })
})

t.test('accounts, totals, rows and coverage are tables for people, and JSON for programs', async (t) => {
  const { app, revenue } = await service(t)
  await app.watch(ALICE, 1, { label: 'Fees', role: 'fee_wallet' })
  await app.watch(BOB, null)
  await app.ledger(ALICE, [
    { slot: 5, entries: [entry()] },
    {
      slot: 9,
      entries: [
        entry({
          signature: signatureOf(9),
          post: 0n,
          valueUsd: null,
          counterparty: null,
          mint: BOB,
          decimals: 0
        })
      ]
    }
  ])
  await app.blocks(5, 9)

  const accounts = await revenue('accounts')
  t.match(
    accounts.lines[0],
    /^address +label +role +status +inflow_usd +outflow_usd +net_usd +inflow_sol +outflow_sol +net_sol +events +last_event_at$/
  )
  const fees = accounts.lines.find((line) => line.includes('Fees'))
  t.match(fees, /fee_wallet +active +150 +0 +150 +1 +0 +1 +2 +2026-08-24 12:00:09$/)
  t.match(
    accounts.lines.find((line) => line.startsWith(BOB)),
    /other +starting +0 .* 0 +–$/
  )

  const totals = await revenue('totals', '--window', '60')
  t.match(totals.lines, [
    /^of +inflow_usd +outflow_usd +net_usd +inflow_sol +outflow_sol +net_sol +events$/,
    /^all addresses +150 +0 +150 +1 +0 +1 +2$/,
    /^role fee_wallet +150 /,
    /^role other +0 /,
    /^Fees +150 /,
    new RegExp(`^${BOB} +0 `)
  ])
  t.match((await revenue('totals', '--json')).rows(), [{ window_seconds: 86_400, totals: { events: 2 } }])

  const events = await revenue('events')
  t.match(events.lines, [
    /^ts +label +kind +delta +symbol +value_usd +counterparty +signature$/,
    new RegExp(`^2026-08-24 12:00:09 +Fees +transfer +-5000000000 +${BOB} +– +– +${signatureOf(9)}$`),
    new RegExp(`^2026-08-24 12:00:05 +Fees +transfer +1 +SOL +150 +${BOB} +${signatureOf(1)}$`)
  ])
  t.equal((await revenue('events', '--limit', '1', '--json')).rows().length, 1)

  const gap = { from: 3, to: 4, fromTs: null, toTs: null, reason: 'ingest_down' } as const
  await new LedgerGaps(app.storage.documents).add(gap)
  const coverage = await revenue('coverage')
  t.match(coverage.lines[0], /^address +label +status +live_from +gaps +complete$/)
  t.match(
    coverage.lines.find((line) => line.startsWith(ALICE)),
    /Fees +active +2026-08-24 12:00:00 +1 +false$/
  )
  t.match(
    coverage.lines.find((line) => line.startsWith(BOB)),
    /starting +– +0 +false$/
  )
  t.match((await revenue('coverage', '--json')).rows().length, 2)
})

t.test('a command that the service or the command line refuses ends with its reason', async (t) => {
  const { revenue } = await service(t)
  const cases: [args: string[], code: number, stderr: RegExp][] = [
    [['watch'], 2, /ADDRESS is missing/],
    [['watch', 'x'], 2, /address must be a base58 address/],
    [['watch', ALICE, '--role', 'Fees'], 2, /role must be 1 to 32 lower-case/],
    [['unwatch', 'x/y'], 2, /address must be a base58 address/],
    [['totals', '--window', 'day'], 2, /--window is not a whole number/],
    [['totals', '--window', '59'], 2, /window must be a whole number between 60 and 31536000/],
    [['events', '--limit', '1001'], 2, /limit must be a whole number between 1 and 1000/],
    [['event'], 2, /did you mean events\?/]
  ]
  for (const [args, code, stderr] of cases)
    t.match(await revenue(...args), { code, lines: [], stderr }, args.join(' '))
  t.match(await runCommand(['revenue', 'accounts']), { code: 2, stderr: /scope revenue.*MILLRACE_KEY/ })
})
