/** What the clients of docs/schemes need. Here they are compiled; `test/servers` drives them. */
export interface Order {
  readonly id: string;
  readonly amount: number;
}

export const api = 'https://api.example';
export const secret = 'c2VjcmV0';
