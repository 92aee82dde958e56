import { PubkeyTable } from './pubkey.ts'

/**
 * Programs that route swaps through venues. A trade carries its aggregator as a label; an aggregator's call is never a
 * trade itself.
 */
export const AGGREGATORS = new PubkeyTable<string>([
  ['JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4', 'jupiter-v6'],
  ['JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB', 'jupiter-v4'],
  ['routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS', 'raydium-router'],
  ['6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma', 'okx-v2']
])
