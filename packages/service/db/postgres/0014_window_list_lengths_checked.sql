-- Reads all rows under a lock that lets others read and write.
alter table current_windows validate constraint current_windows_of_one_length;
