/** A value that is here already, or that the engine is still to give: what is in memory costs no promise. */
export type Soon<T> = T | Promise<T>
