import { z } from 'zod'
import { WORK_PER_MINUTE } from '../kernel/work/work-units.ts'
import { flag, integer, optional, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of keys and their rates. */
export const ACCESS_SETTINGS = {
  adminKey: {
    schema: optional(
      z
        .string()
        .min(16, 'is shorter than 16 characters')
        .regex(/^[\x21-\x7e]+$/, 'has characters that a header cannot carry')
    ),
    fallback: '',
    secret: true,
    meaning: 'bootstrap admin key; without it, a start with an empty store creates one and prints it once'
  },
  key: {
    schema: optional(z.string().regex(/^[\x21-\x7e]+$/, 'has characters that a header cannot carry')),
    fallback: '',
    secret: true,
    meaning: 'the API key of `millrace tail`, `tx`, `webhooks`, `revenue` and `programs`'
  },
  demoKey: {
    schema: optional(flag),
    fallback: '',
    meaning:
      'whether the first start of a localnet creates the tenant `demo` with a key; default: with the embedded store alone, because every gateway of a cluster would accept the key'
  },
  rateLimitPerMinute: {
    schema: integer(1, 1e9),
    fallback: '600',
    meaning: 'calls per minute for a key without its own rate'
  },
  workPerMinute: {
    schema: integer(1, 1e12),
    fallback: String(WORK_PER_MINUTE),
    meaning:
      'units of work per minute for a key without its own limit, and for all keys of a tenant together; a unit is 10 µs of the event loop, so that the default is half a core'
  },
  programAccountsWeight: {
    schema: integer(1, 10_000),
    fallback: '20',
    meaning:
      'calls that one `getProgramAccounts`, or one page of accounts of a program, counts as; a page of 1,000 accounts takes the CPU time of 23 pages of trades'
  },
  holdersWeight: {
    schema: integer(1, 10_000),
    fallback: '5',
    meaning:
      'calls that one page of the holders of a token counts as; it takes the CPU time of 2 to 3 pages of trades, and of up to 200 if the list has changed'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof ACCESS_SETTINGS> {}
}
