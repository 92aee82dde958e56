import { join } from 'node:path'
import type { Test } from 'tap'
import { SCOPES } from '../../src/access/scopes.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, launch, NOON, OTHER, POOL, sell, TOKEN, trade } from '../market/world.ts'
import type { Row } from '../http/market-app.ts'
import { listeningApp, type ListeningApp } from '../http/raw-client.ts'
import { runCommand, type Said } from './run-command.ts'

export const MINT = pubkeyToBase58(TOKEN)
export const WALLET = pubkeyToBase58(key(60))
export const POOL_TEXT = pubkeyToBase58(POOL)
/** The program of PumpSwap: an import checks that the program is one of the venue. */
const program = pubkeyFromBase58('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
export const RANGE = ['--from', String(NOON - 1_000), '--to', String(NOON + 100_000)]

export interface ExportWorld {
  readonly app: ListeningApp
  /** Runs `millrace export` with a key of all scopes. */
  readonly run: (args: readonly string[], apiKey?: string) => Promise<Said>
  readonly file: (name: string) => string
  /** Returns the rows of a path as the API gives them, oldest first. */
  readonly rows: (path: string) => Promise<Row[]>
}

/** A service with trades of every form, and launches whose texts are not harmless. */
export async function exportWorld(t: Test, trades = 40): Promise<ExportWorld> {
  const app = await listeningApp(t)
  const directory = t.testdir()
  const each = Math.ceil(trades / 4)
  await app.commit(
    block(300_000_001, NOON, [
      launch({ baseMint: TOKEN, name: '=1+1, "x"\r\n', symbol: '@Ünï' }),
      launch({ baseMint: key(7), name: '', symbol: '-5' }),
      ...Array.from({ length: each }, (_, n) =>
        buy(10n ** 9n + BigInt(n), 2n ** 62n, { program, user: key(60) })
      )
    ]),
    block(
      300_000_002,
      NOON + 70,
      Array.from({ length: each }, () => sell(10n ** 8n, 10n ** 8n, { program }))
    ),
    block(
      300_000_003,
      NOON + 3_700,
      Array.from({ length: each }, () => trade({ program, inMint: TOKEN, inDecimals: 6, outMint: OTHER }))
    ),
    block(
      300_000_004,
      NOON + 9_000,
      Array.from({ length: each }, () => buy(10n ** 9n, 2n ** 62n, { program }))
    )
  )
  const ofAll = await app.makeKey(SCOPES)
  return {
    app,
    run: (args, apiKey = ofAll) =>
      runCommand(['export', ...args], { MILLRACE_KEY: apiKey, MILLRACE_PORT: String(app.port) }),
    file: (name) => join(directory, name),
    async rows(path) {
      const { body } = await app.get(`${path}${path.includes('?') ? '&' : '?'}order=asc&limit=500`)
      return [...body.data]
    }
  }
}
