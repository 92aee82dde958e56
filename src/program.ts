import type { Program } from './kernel/cli/command.ts'
import { commandsOf, loadProducts } from './kernel/product-row.ts'
import { PRODUCT_ROWS } from './products.ts'

/** The program `millrace`: the commands, settings and units of all products. */
export const PROGRAM: Program = {
  commands: commandsOf(PRODUCT_ROWS),
  configuration: async () => (await import('./configuration.ts')).CONFIGURATION,
  products: () => loadProducts(PRODUCT_ROWS)
}
