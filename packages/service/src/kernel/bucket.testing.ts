/** Timezones with every kind of clock change. */
export const ZONES = [
  ...[
    'UTC',
    'Africa/Cairo',
    'Africa/Casablanca',
    'Africa/Johannesburg',
    'America/Asuncion',
    'America/Caracas',
  ],
  ...['America/Havana', 'America/New_York', 'America/Nuuk', 'America/Santiago', 'America/Sao_Paulo'],
  ...['America/St_Johns', 'Antarctica/Troll', 'Asia/Amman', 'Asia/Beirut', 'Asia/Gaza', 'Asia/Kathmandu'],
  ...[
    'Asia/Kolkata',
    'Asia/Pyongyang',
    'Asia/Tehran',
    'Asia/Tokyo',
    'Atlantic/Azores',
    'Australia/Lord_Howe',
  ],
  ...[
    'Australia/Sydney',
    'Europe/Dublin',
    'Europe/London',
    'Europe/Paris',
    'Pacific/Apia',
    'Pacific/Chatham',
  ],
  ...['Pacific/Kiritimati', 'Pacific/Norfolk'],
];
