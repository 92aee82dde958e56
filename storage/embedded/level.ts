import type { ClassicLevel } from 'classic-level'

/** The engine, by keys and values of bytes. */
export type Level = ClassicLevel<Buffer, Uint8Array>
