import * as compose from '../../src/kernel/compose/product.ts'
import { PROGRAM } from '../../src/program.ts'

/** Every product, loaded. */
export const PRODUCTS = await PROGRAM.products()

/** Returns the products of a process with the given roles. */
export const productsOf = (config: Parameters<typeof compose.productsOf>[1]) =>
  compose.productsOf(PRODUCTS, config)
