import type { Commands } from './cli/command.ts'
import type { Product } from './compose/product.ts'
import type { SettingName } from './config/config.ts'
import type { Setting, Settings } from './config/setting.ts'

/** A row of the list of products: what is read before the product is loaded, and how to load it. */
export interface ProductRow {
  /** Commands of its room. Each imports its code only when it runs. */
  readonly commands?: Commands
  /** Settings of its room, and their place in the help, ascending. Those without a position come last. */
  readonly settings?: { readonly position?: number; readonly load: () => Promise<Settings> }
  readonly product: () => Promise<Product>
}

/** Position of what states none. */
const LAST = Number.MAX_SAFE_INTEGER

/** Loads the products of some rows, in the order of the rows. */
export const loadProducts = (rows: readonly ProductRow[]): Promise<readonly Product[]> =>
  Promise.all(rows.map(({ product }) => product()))

/** Returns the commands of some rows, in the order of the help. */
export function commandsOf(rows: readonly ProductRow[]): Commands {
  const commands = rows.flatMap(({ commands = {} }) => Object.entries(commands))
  return Object.fromEntries(commands.sort(([, { position: a = LAST }], [, { position: b = LAST }]) => a - b))
}

/** Loads the settings of some rows, in the order of the help. */
export async function loadSettings(
  rows: readonly ProductRow[]
): Promise<Readonly<Record<SettingName, Setting>>> {
  const groups = rows.flatMap(({ settings }) => settings ?? [])
  groups.sort(({ position: a = LAST }, { position: b = LAST }) => a - b)
  const loaded = await Promise.all(groups.map(({ load }) => load()))
  // The settings of all rows are those that the type names, which each row's settings extend.
  return Object.assign({}, ...loaded) as Readonly<Record<SettingName, Setting>>
}
